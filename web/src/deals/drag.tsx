import type {
  DragDropContextProps,
  DraggableProps,
  DraggableProvided,
  DraggableStateSnapshot,
  DroppableProps,
  DroppableProvided,
  DroppableStateSnapshot,
} from '@hello-pangea/dnd'
import { useIsFetching } from '@tanstack/react-query'
import { createContext, type ReactNode, type RefObject, useContext, useEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { useIdle } from '../app/idle.ts'
import { latePart } from '../app/late.ts'

type Parts = typeof import('./drag-parts.ts')

const parts = latePart(() => import('./drag-parts.ts'))
const PartsContext = createContext<Parts | undefined>(undefined)

const no_drop: [DroppableProvided, DroppableStateSnapshot] = [
  {
    innerRef: () => {},
    droppableProps: {} as DroppableProvided['droppableProps'],
    placeholder: null,
  },
  { isDraggingOver: false, draggingOverWith: null, draggingFromThisWith: null, isUsingPlaceholder: false },
]
const no_drag = [
  { innerRef: () => {}, draggableProps: {}, dragHandleProps: null },
  { isDragging: false, isDropAnimating: false },
] as unknown as [DraggableProvided, DraggableStateSnapshot]

type BoardProps = Omit<DragDropContextProps, 'children'> & {
  board: RefObject<HTMLElement | null>
  /** While a card has an open menu or a question, the board is not drawn anew. */
  in_use: boolean
  children: ReactNode
}

const press_poll_ms = 100

// `disabled` would also stop the scrolling by keyboard.
const no_scrolling = { startFromPercentage: 0, maxScrollAtPercentage: 0, maxPixelScroll: 0 }

/**
 * A board whose cards can be dragged as soon as the program for it is loaded: after the first screen. Everything else
 * works before.
 */
export function DragBoard({ board, in_use, children, ...given }: BoardProps) {
  const idle = useIdle()
  const found = parts.usePart(idle || parts.now() !== undefined, () => {})
  // The cards are drawn anew, which would end what is being read for them.
  const reading = useIsFetching({ queryKey: ['deals', 'board'] }) > 0
  const [used, setUsed] = useState<Parts | undefined>(parts.now)
  const ready = found && !used && !reading && !in_use
  useEffect(() => {
    if (!ready) return
    // A task of its own: React does not draw at once inside an effect.
    let next = setTimeout(function draw() {
      // A click on a pressed card would be lost.
      if (board.current?.matches(':active')) next = setTimeout(draw, press_poll_ms)
      else keepPlace(board, () => flushSync(() => setUsed(found)))
    })
    return () => clearTimeout(next)
  }, [ready, found, board])
  const endScrolling = useRef(() => {})
  useEffect(() => () => endScrolling.current(), [])
  const content = <PartsContext value={used}>{children}</PartsContext>
  return used ? (
    <used.DragDropContext
      {...given}
      autoScrollerOptions={no_scrolling}
      onDragStart={(start, provided) => {
        if (start.mode === 'FLUID' && board.current) endScrolling.current = used.scrollAtEdges(board.current)
        given.onDragStart?.(start, provided)
      }}
      onDragEnd={(result, provided) => {
        endScrolling.current()
        given.onDragEnd(result, provided)
      }}
    >
      {content}
    </used.DragDropContext>
  ) : (
    content
  )
}

/** Draws the board anew in one task, so that no key press comes between. The focus and the scroll position stay. */
function keepPlace(board: RefObject<HTMLElement | null>, draw: () => void): void {
  const { scrollLeft = 0, scrollTop = 0 } = board.current ?? {}
  const focused = document.activeElement
  const place = board.current?.contains(focused) && focused?.closest<HTMLElement>('[data-deal], [data-stage]')
  const { deal, stage } = place ? place.dataset : {}
  const controls = (part?: Element | null) => [...(part?.querySelectorAll<HTMLElement>('a, button') ?? [])]
  const at = place ? controls(place).indexOf(focused as HTMLElement) : -1
  draw()
  board.current?.scrollTo(scrollLeft, scrollTop)
  const same = board.current?.querySelector(deal ? `[data-deal="${deal}"]` : `[data-stage="${stage}"]`)
  controls(same)[at]?.focus({ preventScroll: true })
}

/** Whether the program for dragging is loaded. */
export const useMayDrag = (): boolean => useContext(PartsContext) !== undefined

export function Drop({ children, ...given }: DroppableProps) {
  const found = useContext(PartsContext)
  return found ? <found.Droppable {...given}>{children}</found.Droppable> : children(...no_drop)
}

type DragProps = Omit<DraggableProps, 'children'> & {
  children: (provided: DraggableProvided, snapshot: DraggableStateSnapshot) => ReactNode
}

export function Drag({ children, ...given }: DragProps) {
  const found = useContext(PartsContext)
  return found ? (
    <found.Draggable {...given}>{(provided, snapshot) => children(provided, snapshot)}</found.Draggable>
  ) : (
    children(...no_drag)
  )
}
