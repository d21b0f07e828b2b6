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
import { createContext, type ReactNode, useContext, useEffect, useRef, useState } from 'react'
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

/**
 * A board whose cards can be dragged as soon as the program for it is loaded: after the first screen. Everything else
 * works before.
 */
export function DragBoard({
  children,
  ...given
}: Omit<DragDropContextProps, 'children'> & { children: ReactNode }) {
  const idle = useIdle()
  const found = parts.usePart(idle || parts.now() !== undefined, () => {})
  // The cards are drawn anew, which would end what is being read for them.
  const reading = useIsFetching({ queryKey: ['deals', 'board'] }) > 0
  const [used, setUsed] = useState<Parts | undefined>(parts.now)
  const focused = useRef<string | undefined>(undefined)
  useEffect(() => {
    if (!found || reading || used) return
    focused.current = document.activeElement?.closest<HTMLElement>('[data-deal]')?.dataset.deal
    setUsed(found)
  }, [found, reading, used])
  // The focus stays on the same card.
  useEffect(() => {
    if (!used || !focused.current || document.activeElement !== document.body) return
    document.querySelector<HTMLElement>(`[data-deal="${focused.current}"] a`)?.focus({ preventScroll: true })
  }, [used])
  const board = <PartsContext value={used}>{children}</PartsContext>
  return used ? <used.DragDropContext {...given}>{board}</used.DragDropContext> : board
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
