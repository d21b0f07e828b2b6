import { notifications } from '@mantine/notifications'
import { useQueryClient } from '@tanstack/react-query'
import { useMemo, useRef, useState } from 'react'
import { explain } from '../app/problems.tsx'
import { useRefresh } from '../record/refresh.ts'
import { useTexts } from '../texts/texts.ts'
import { offerUndo } from '../ui/undo.tsx'
import { type ListedDeal, moveDeal, touched } from './deals.ts'
import { default_probabilities, isOpen, type Stage } from './stages.ts'

/** A card that is somewhere else than the service said when the board was last read. */
export type Move = {
  /** As the board has it. */
  deal: ListedDeal
  to: Stage
  /** asked: for the reason of a loss; sent: to the service; done: the service has it, the board is read again. */
  state: 'asked' | 'sent' | 'done'
}

/** A deal as it will look in a stage. */
export const dealIn = (deal: ListedDeal, stage: Stage): ListedDeal =>
  deal.stage === stage
    ? deal
    : {
        ...deal,
        stage,
        status: isOpen(stage) ? 'open' : (stage as 'won' | 'lost'),
        probability: default_probabilities[stage],
      }

/**
 * Moves cards at once and tells the service; what it refuses goes back, with the reason told. As long as a move is on its
 * way, or a card in the hand, the board is held as it was read: nothing jumps below the hand, and no card shows twice.
 */
export function useMoves() {
  const t = useTexts()
  const client = useQueryClient()
  const refresh = useRefresh()
  const moves = useRef(new Map<number, Move>())
  const [, setVersion] = useState(0)
  const [lifted, setLifted] = useState(false)

  return {
    moves: moves.current,
    lifted,
    setLifted,
    held: lifted || moves.current.size > 0,
    ...useMemo(() => {
      const show = () => setVersion((version) => version + 1)
      const all = () => [...moves.current.values()]

      async function settle() {
        show()
        const busy = () => all().some(({ state }) => state !== 'done')
        if (busy()) return
        const done = all()
        await refresh(...touched)
        // Another move may have begun meanwhile: then its end settles all.
        if (busy()) return
        for (const move of done)
          if (moves.current.get(move.deal.id) === move) moves.current.delete(move.deal.id)
        show()
      }

      /** Takes a card to a stage. */
      async function send(deal: ListedDeal, to: Stage, lost_reason?: string): Promise<void> {
        const before = moves.current.get(deal.id)
        const earlier = before?.state === 'done' ? before : undefined
        const origin = before?.deal ?? deal
        const from = earlier?.to ?? origin.stage
        if (from === to) {
          if (before?.state === 'asked') moves.current.delete(deal.id)
          return settle()
        }
        const mine: Move = { deal: origin, to, state: 'sent' }
        moves.current.set(deal.id, mine)
        show()
        const name = origin.name
        try {
          await client.cancelQueries({ queryKey: ['deals', 'board'] })
          const { back } = await moveDeal(dealIn(origin, from), to, lost_reason)
          mine.state = 'done'
          const told = isOpen(to) ? t.deals.moved(name, t.deals.stages[to]) : t.deals[to as 'won'](name)
          offerUndo(t, told, () => undo(mine, from, back))
        } catch (error) {
          if (earlier) moves.current.set(deal.id, earlier)
          else moves.current.delete(deal.id)
          const message = t.deals.back_in(name, t.deals.stages[from], explain(error, t))
          notifications.show({ color: 'red', autoClose: 8000, withBorder: true, message })
        }
        await settle()
      }

      async function undo({ deal, to }: Move, from: Stage, back: () => Promise<unknown>) {
        // Held still, the board has it where it was; read again, where it went.
        const origin = moves.current.get(deal.id)?.deal ?? dealIn(deal, to)
        const mine: Move = { deal: origin, to: from, state: 'sent' }
        moves.current.set(deal.id, mine)
        show()
        try {
          await back()
          mine.state = 'done'
        } catch (error) {
          moves.current.delete(deal.id)
          throw error
        } finally {
          await settle()
        }
      }

      return {
        send,
        /** Shows a card in lost, until the reason is told or not. */
        ask(deal: ListedDeal) {
          moves.current.set(deal.id, { deal, to: 'lost', state: 'asked' })
          show()
        },
        /** Puts a card back for which no reason was told. */
        putBack(id: number) {
          moves.current.delete(id)
          settle()
        },
      }
    }, [client, refresh, t]),
  }
}
export type Moves = ReturnType<typeof useMoves>
