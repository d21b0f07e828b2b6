import { useQueryClient } from '@tanstack/react-query'
import { useMemo, useRef, useState } from 'react'
import { explain, tellProblem } from '../app/problems.tsx'
import { staleAfter } from '../record/kinds.ts'
import { type Texts, useTexts } from '../texts/texts.ts'
import { offerUndo } from '../ui/undo.tsx'
import { type Deal, moveDeal } from './deals.ts'
import { deals } from './kind.tsx'
import { default_probabilities, isOpen, type Stage } from './stages.ts'

const stale = staleAfter(deals)

/** A card that is somewhere else than the service said when the board was last read. */
export type Move = {
  /** As the board has it. */
  deal: Deal
  to: Stage
  /** Where it goes back to. */
  from: Stage
  /** asked: for the reason of a loss; sent: to the service; done: the service has it, the board is read again. */
  state: 'asked' | 'sent' | 'done'
}

/** A deal as it will look in a stage. */
export function dealIn(deal: Deal, stage: Stage): Deal {
  if (deal.stage === stage) return deal
  // A probability of its own goes with it from one open stage to another.
  const own = isOpen(deal.stage) && deal.probability !== default_probabilities[deal.stage]
  const probability = own && isOpen(stage) ? deal.probability : default_probabilities[stage]
  return { ...deal, stage, status: isOpen(stage) ? 'open' : (stage as 'won' | 'lost'), probability }
}

/** Says where a deal was moved to, with the way back. */
export function tellMoved(t: Texts, { name, stage }: Deal, undo: () => Promise<unknown>): void {
  const told = isOpen(stage) ? t.deals.moved(name, t.deals.stages[stage]) : t.deals[stage as 'won'](name)
  offerUndo(t, told, undo)
}

/**
 * Moves cards at once and tells the service; what it refuses goes back, with the reason told. As long as a move is on its
 * way, or a card in the hand, the board is held as it was read: nothing jumps below the hand, and no card shows twice.
 */
export function useMoves() {
  const t = useTexts()
  const client = useQueryClient()
  const moves = useRef(new Map<number, Move>())
  const [, setVersion] = useState(0)
  const [lifted, setLifted] = useState(false)

  return {
    moves: moves.current,
    lifted,
    setLifted,
    held: lifted || moves.current.size > 0,
    ...useMemo(() => {
      // The stages whose columns are to be read again.
      const old = new Set<Stage>()
      const show = () => setVersion((version) => version + 1)
      function go(move: Move) {
        moves.current.set(move.deal.id, move)
        for (const stage of [move.deal.stage, move.from, move.to]) old.add(stage)
        show()
      }
      const all = () => [...moves.current.values()]

      async function settle() {
        show()
        const busy = () => all().some(({ state }) => state !== 'done')
        if (busy()) return
        const done = all()
        const columns = new Set(old)
        old.clear()
        await client.invalidateQueries({
          predicate: ({ queryKey: [resource, shown, stage] }) =>
            stale.includes(String(resource)) && (shown !== 'board' || columns.has(stage as Stage)),
        })
        // Another move may have begun meanwhile: then its end settles all.
        if (busy()) return
        for (const move of done)
          if (moves.current.get(move.deal.id) === move) moves.current.delete(move.deal.id)
        show()
      }

      /** Where a card is now, and where the board has it as it was read. */
      function placeOf(deal: Deal): Pick<Move, 'deal' | 'from'> {
        const move = moves.current.get(deal.id)
        if (!move) return { deal, from: deal.stage }
        return { deal: move.deal, from: move.state === 'asked' ? move.from : move.to }
      }
      function goBack({ deal, from }: Move) {
        if (deal.stage === from) moves.current.delete(deal.id)
        else moves.current.set(deal.id, { deal, from, to: from, state: 'done' })
      }

      /** Takes a card to a stage. */
      async function send(card: Deal, to: Stage, lost_reason?: string): Promise<void> {
        const { deal, from } = placeOf(card)
        const mine: Move = { deal, from, to, state: 'sent' }
        go(mine)
        try {
          const { deal: moved, back } = await moveDeal(dealIn(deal, from), to, lost_reason)
          mine.state = 'done'
          tellMoved(t, moved, () => undo(mine, back))
        } catch (error) {
          goBack(mine)
          tellProblem(error, t, t.deals.back_in(deal.name, t.deals.stages[from], explain(error, t)))
        }
        await settle()
      }

      async function undo({ deal: moved, from: to, to: from }: Move, back: () => Promise<unknown>) {
        // Held still, the board has it where it was; read again, where it went.
        const { deal } = placeOf(dealIn(moved, from))
        const mine: Move = { deal, from, to, state: 'sent' }
        go(mine)
        try {
          await back()
          mine.state = 'done'
        } catch (error) {
          goBack(mine)
          throw error
        } finally {
          await settle()
        }
      }

      return {
        send,
        /** Shows a card in lost, until the reason is told or not. */
        ask(card: Deal) {
          go({ ...placeOf(card), to: 'lost', state: 'asked' })
        },
        /** Puts a card back for which no reason was told. */
        putBack(id: number) {
          const move = moves.current.get(id)
          if (move) goBack(move)
          settle()
        },
      }
    }, [client, t]),
  }
}
export type Moves = ReturnType<typeof useMoves>
