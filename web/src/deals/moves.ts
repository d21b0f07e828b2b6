import { useQueryClient } from '@tanstack/react-query'
import { useMemo, useRef, useState } from 'react'
import { explain, showProblem } from '../app/problems.tsx'
import { staleAfter } from '../record/kinds.ts'
import { type Texts, useTexts } from '../texts/texts.ts'
import { offerUndo } from '../ui/undo.tsx'
import { type Deal, moveDeal } from './deals.ts'
import { deals } from './kind.tsx'
import { dealIn, goBack, type MovedOf, type MoveOf, positionOf } from './move-state.ts'
import { isOpen, type Stage } from './stages.ts'

export { dealIn } from './move-state.ts'
export type Move = MoveOf<Deal>

const stale = staleAfter(deals)

/** Shows where a deal was moved to, with Undo. */
export function showMoved(t: Texts, { name, stage }: Deal, undo: () => Promise<unknown>): void {
  const message = isOpen(stage)
    ? t.deals.moved({ name, stage: t.deals.stages[stage] })
    : t.deals[stage as 'won']({ name })
  offerUndo(t, message, undo)
}

/**
 * Moves cards optimistically. A refused move goes back, and a toast says why. While a move is under way or
 * a card is lifted, the board keeps its last data. So nothing jumps under the pointer, and no card shows
 * twice.
 */
export function useMoves() {
  const t = useTexts()
  const client = useQueryClient()
  const moves = useRef(new Map() as MovedOf<Deal>)
  const [, setVersion] = useState(0)
  const [lifted, setLifted] = useState(false)

  return {
    moves: moves.current,
    lifted,
    setLifted,
    held: lifted || moves.current.size > 0,
    ...useMemo(() => {
      // The stages whose columns are stale.
      const old = new Set<Stage>()
      const show = () => setVersion((version) => version + 1)
      function begin(move: Move) {
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
        // If another move has started, its end reloads the board.
        if (busy()) return
        for (const move of done)
          if (moves.current.get(move.deal.id) === move) moves.current.delete(move.deal.id)
        show()
      }

      /** Moves a card to a stage. */
      async function send(card: Deal, to: Stage, lost_reason?: string): Promise<void> {
        const { deal, from } = positionOf(moves.current, card)
        const mine: Move = { deal, from, to, state: 'sent' }
        begin(mine)
        try {
          const { deal: moved, back } = await moveDeal(dealIn(deal, from), to, lost_reason, [
            from,
            deal.stage,
          ])
          mine.state = 'done'
          // Otherwise the person has kept the stage that somebody else chose.
          if (moved.stage === to) showMoved(t, moved, () => undo(mine, back))
        } catch (error) {
          goBack(moves.current, mine)
          showProblem(
            error,
            t,
            t.deals.back_in({ name: deal.name, stage: t.deals.stages[from], why: explain(error, t) }),
          )
        }
        await settle()
      }

      async function undo({ deal: moved, from: to, to: from }: Move, back: () => Promise<unknown>) {
        // The held board has the deal in the old column; a reloaded one in the new column.
        const { deal } = positionOf(moves.current, dealIn(moved, from))
        const mine: Move = { deal, from, to, state: 'sent' }
        begin(mine)
        try {
          await back()
          mine.state = 'done'
        } catch (error) {
          goBack(moves.current, mine)
          throw error
        } finally {
          await settle()
        }
      }

      return {
        send,
        /** Shows a card in Lost until the reason is given or the question is cancelled. */
        ask(card: Deal) {
          begin({ ...positionOf(moves.current, card), to: 'lost', state: 'asked' })
        },
        /** Returns a card whose question was cancelled. */
        putBack(id: number) {
          const move = moves.current.get(id)
          if (move) goBack(moves.current, move)
          settle()
        },
      }
    }, [client, t]),
  }
}
export type Moves = ReturnType<typeof useMoves>
