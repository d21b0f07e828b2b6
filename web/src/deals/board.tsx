import type { DragStart, DropResult, ResponderProvided } from '@hello-pangea/dnd'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import { useCommands } from '../app/commands.ts'
import { useMay } from '../app/session.ts'
import { useAssign } from '../record/list/assign.tsx'
import { useListLog } from '../record/page/log.tsx'
import { useToTrash } from '../record/to-trash.ts'
import { useTexts } from '../texts/texts.ts'
import { BoardColumn } from './board-column.tsx'
import type { CardActions } from './card.tsx'
import type { BoardFilter, BoardOrder, usePipeline } from './columns.ts'
import type { Deal } from './deals.ts'
import { DragBoard } from './drag.tsx'
import { dealIn, type Moves } from './moves.ts'
import { type Stage, stages } from './stages.ts'
import './stages.css'
import './board.css'

const nonce = document.querySelector<HTMLMetaElement>('meta[name=csp-nonce]')?.content ?? ''

type Props = {
  filter: BoardFilter
  sort: BoardOrder
  moving: Moves
  report: ReturnType<typeof usePipeline>['report']
  open_id: string | null
  onOpen: (deal: Deal) => void
  /** Closes the side panel; resolves when it is closed. */
  onClose: () => unknown
  onCreate: (stage: Stage) => void
}

/** The eight stages as columns. A card moves by mouse, touch, keyboard, or its menu. */
export function Board({ filter, sort, moving, report, open_id, onOpen, onClose, onCreate }: Props) {
  const t = useTexts()
  const client = useQueryClient()
  const toTrash = useToTrash()
  const writes = useMay()('deals:write')
  const board = useRef<HTMLDivElement>(null)
  const [menu, setMenu] = useState<number | null>(null)
  const [asked, setAsked] = useState<Deal | null>(null)
  const in_hand = useRef<Deal | null>(null)
  const { moves, lifted, held, setLifted, send, ask, putBack } = moving
  const goTo = useCardFocus(board)

  /** The deal as its card shows it. */
  function dealOf(id: number): Deal | null {
    const move = moves.get(id)
    if (move) return dealIn(move.deal, move.to)
    for (const [, data] of client.getQueriesData<{ pages: { data: Deal[] }[] }>({
      queryKey: ['deals', 'board'],
    }))
      for (const page of data?.pages ?? []) {
        const deal = page.data.find((one) => one.id === id)
        if (deal) return deal
      }
    return null
  }
  function take(deal: Deal, to: Stage) {
    if (deal.stage === to) return
    if (to !== 'lost') return void send(deal, to)
    ask(deal)
    setAsked(deal)
  }
  const { ask: assign, dialog } = useAssign<Deal>('deals', () => {
    const deal = dealOf(focusedCard() ?? Number(open_id))
    return { rows: deal ? [deal] : [] }
  })
  const log = useListLog('deals', () => dealOf(focusedCard() ?? 0))
  const leave = (id: number) => open_id === String(id) && onClose()
  const current = useRef({ take, onOpen, leave, assign })
  current.current = { take, onOpen, leave, assign }
  const actions = useMemo((): CardActions => {
    return {
      open: (deal) => current.current.onOpen(deal),
      move(deal, to) {
        setMenu(null)
        goTo(deal.id, to)
        current.current.take(deal, to)
      },
      async remove({ id, name }) {
        setMenu(null)
        const next = neighbourOf(board.current, id)
        await toTrash({ kind: 'deals', id, name, leave: () => current.current.leave(id) })
        if (next) goTo(next)
      },
      assign(deal) {
        setMenu(null)
        goTo(deal.id)
        // The dialog returns the focus to the card.
        setTimeout(() => current.current.assign?.({ rows: [deal] }))
      },
      menu(id) {
        setMenu((before) => {
          if (id === null && before !== null) goTo(before)
          return id
        })
      },
    }
  }, [goTo, toTrash])
  function end() {
    setAsked(null)
    if (asked) goTo(asked.id)
  }
  useBoardKeys(board, writes, actions.menu)

  function onStart({ draggableId, source }: DragStart, { announce }: ResponderProvided) {
    in_hand.current = dealOf(Number(draggableId))
    setLifted(true)
    announce(
      t.deals.lifted({
        name: in_hand.current?.name ?? '',
        stage: t.deals.stages[source.droppableId as Stage],
      }),
    )
  }
  function onEnd({ source, destination, reason }: DropResult, { announce }: ResponderProvided) {
    setLifted(false)
    const deal = in_hand.current
    if (!deal) return
    const to = destination?.droppableId as Stage | undefined
    if (reason === 'CANCEL' || !to || to === source.droppableId)
      return announce(
        t.deals.put_back({ name: deal.name, stage: t.deals.stages[source.droppableId as Stage] }),
      )
    announce(t.deals.dropped({ name: deal.name, stage: t.deals.stages[to] }))
    take(deal, to)
  }
  return (
    <>
      <DragBoard
        board={board}
        in_use={menu !== null || asked !== null}
        nonce={nonce}
        dragHandleUsageInstructions={t.deals.drag_instructions}
        onDragStart={onStart}
        onDragUpdate={({ destination }, { announce }) => {
          const name = in_hand.current?.name ?? ''
          const stage = destination?.droppableId as Stage | undefined
          announce(
            stage ? t.deals.over({ name, stage: t.deals.stages[stage] }) : t.deals.over_nothing({ name }),
          )
        }}
        onDragEnd={onEnd}
      >
        <div className="board" ref={board} data-lifted={lifted || undefined}>
          {stages.map((stage) => (
            <BoardColumn
              key={stage}
              stage={stage}
              sums={report?.stages.find((one) => one.stage === stage)}
              sort={sort}
              filter={filter}
              moves={moves}
              held={held}
              writes={writes}
              menu={menu}
              open_id={open_id}
              actions={actions}
              onCreate={onCreate}
              asked={stage === 'lost' ? asked : null}
              onReason={(reason) => {
                end()
                if (asked) send(asked, 'lost', reason)
              }}
              onPutBack={() => {
                end()
                if (asked) putBack(asked.id)
              }}
            />
          ))}
        </div>
      </DragBoard>
      {/* Outside: the board is drawn anew when the program for dragging comes. */}
      {dialog}
      {log}
    </>
  )
}

/** The id of the card that has the focus. */
export const focusedCard = (): number | null =>
  Number(document.activeElement?.closest<HTMLElement>('[data-deal]')?.dataset.deal) || null

/** The card that gets the focus when this one is removed: the next one, else the previous one. */
function neighbourOf(board: HTMLElement | null, id: number): number | null {
  const card = board?.querySelector(`[data-deal="${id}"]`)
  const next = (card?.nextElementSibling ?? null) as HTMLElement | null
  const previous = (card?.previousElementSibling ?? null) as HTMLElement | null
  return Number(next?.dataset.deal ?? previous?.dataset.deal) || null
}

/** Focuses a card after the next render, and scrolls it (or first its column) into view. */
function useCardFocus(board: React.RefObject<HTMLDivElement | null>) {
  const wanted = useRef<{ id: number; to?: Stage } | null>(null)
  const [, ask] = useState(0)
  useEffect(() => {
    if (!wanted.current) return
    const { id, to } = wanted.current
    wanted.current = null
    if (to) board.current?.querySelector(`[data-stage=${to}]`)?.scrollIntoView({ inline: 'nearest' })
    const link = board.current?.querySelector<HTMLElement>(`[data-deal="${id}"] .card-link`)
    link?.focus({ preventScroll: true })
    link?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  })
  return useMemo(
    () => (id: number, to?: Stage) => {
      wanted.current = to ? { id, to } : { id }
      ask((times) => times + 1)
    },
    [],
  )
}

/** Arrows, j and k move between cards; m opens the menu of the focused card. */
function useBoardKeys(
  board: React.RefObject<HTMLDivElement | null>,
  writes: boolean,
  onMenu: (id: number) => void,
) {
  const t = useTexts()
  const focused = () => document.activeElement?.closest<HTMLElement>('[data-deal]') ?? null
  const cardsOf = (column: Element | null) => [...(column?.querySelectorAll<HTMLElement>('.card-link') ?? [])]
  function go(down: number, right: number) {
    const columns = [...(board.current?.querySelectorAll('.column') ?? [])]
    const card = focused()
    if (!card) return columns.flatMap(cardsOf)[0]?.focus()
    const column = card.closest('.column')
    const at = cardsOf(column).findIndex((link) => card.contains(link))
    if (down) return cardsOf(column)[at + down]?.focus()
    const others = right > 0 ? columns : columns.toReversed()
    const next = others.slice(others.indexOf(column as Element) + 1).find((one) => cardsOf(one).length)
    const links = cardsOf(next ?? null)
    links[Math.min(at, links.length - 1)]?.focus()
  }
  const by_key = { group: 'lists' as const, keys_only: true }
  const { next_card, previous_card, left_column, right_column } = t.deals
  const way = (label: string, keys: string, also: string, down: number, right: number) => ({
    ...by_key,
    id: keys,
    label,
    keys,
    also,
    run: () => go(down, right),
  })
  useCommands([
    way(next_card, 'j', 'ArrowDown', 1, 0),
    way(previous_card, 'k', 'ArrowUp', -1, 0),
    way(left_column, 'ArrowLeft', '', 0, -1),
    way(right_column, 'ArrowRight', '', 0, 1),
  ])
  function openMenu() {
    const id = focusedCard()
    if (id) onMenu(id)
  }
  useCommands([{ ...by_key, id: 'move-card', label: t.deals.move_card, keys: 'm', run: openMenu }], writes)
}
