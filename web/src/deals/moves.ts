import { useMemo, useRef, useState } from 'react'
import { explain, tellProblem } from '../app/problems.tsx'
import { useRefresh } from '../record/refresh.ts'
import { useTexts } from '../texts/texts.ts'
import { offerUndo } from '../ui/undo.tsx'
import { type Deal, moveDeal, touched } from './deals.ts'
import { default_probabilities, isOpen, type Stage } from './stages.ts'

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
export const dealIn = (deal: Deal, stage: Stage): Deal =>
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
        moves.current.set(deal.id, mine)
        show()
        const { name } = deal
        try {
          const { back } = await moveDeal(dealIn(deal, from), to, lost_reason)
          mine.state = 'done'
          const told = isOpen(to) ? t.deals.moved(name, t.deals.stages[to]) : t.deals[to as 'won'](name)
          offerUndo(t, told, () => undo(mine, back))
        } catch (error) {
          goBack(mine)
          tellProblem(error, t, t.deals.back_in(name, t.deals.stages[from], explain(error, t)))
        }
        await settle()
      }

      async function undo({ deal: moved, from: to, to: from }: Move, back: () => Promise<unknown>) {
        // Held still, the board has it where it was; read again, where it went.
        const { deal } = placeOf(dealIn(moved, from))
        const mine: Move = { deal, from, to, state: 'sent' }
        moves.current.set(deal.id, mine)
        show()
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
          moves.current.set(card.id, { ...placeOf(card), to: 'lost', state: 'asked' })
          show()
        },
        /** Puts a card back for which no reason was told. */
        putBack(id: number) {
          const move = moves.current.get(id)
          if (move) goBack(move)
          settle()
        },
      }
    }, [refresh, t]),
  }
}
export type Moves = ReturnType<typeof useMoves>
