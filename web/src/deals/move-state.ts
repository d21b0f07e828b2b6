import { default_probabilities, isOpen, type Stage } from './stages.ts'

/** The facts of a deal that a move needs. */
type Card = {
  id: number
  stage: Stage
  status: 'open' | 'won' | 'lost'
  probability: number
  stage_since?: string | null | undefined
}

/** A card that is in another column than in the last answer of the service. */
export type MoveOf<Deal extends Card> = {
  /** The deal as last read. */
  deal: Deal
  to: Stage
  /** The stage it returns to if the move fails. */
  from: Stage
  /**
   * asked: waits for the reason of a loss. sent: waits for the service. done: stored, waits until the board
   * has reloaded.
   */
  state: 'asked' | 'sent' | 'done'
}

/** A deal as it will be in a stage. */
export function dealIn<Deal extends Card>(deal: Deal, stage: Stage): Deal {
  if (deal.stage === stage) return deal
  // A deal keeps its own probability between open stages.
  const own = isOpen(deal.stage) && deal.probability !== default_probabilities[deal.stage]
  const probability = own && isOpen(stage) ? deal.probability : default_probabilities[stage]
  const status = isOpen(stage) ? 'open' : (stage as 'won' | 'lost')
  return { ...deal, stage, status, probability, stage_since: new Date().toISOString() }
}

/** The cards that are in another column, by deal. */
export type MovedOf<Deal extends Card> = Map<number, MoveOf<Deal>>

/** The column of a card now, and in the data that the board shows. */
export function positionOf<Deal extends Card>(
  moved: MovedOf<Deal>,
  deal: Deal,
): Pick<MoveOf<Deal>, 'deal' | 'from'> {
  const move = moved.get(deal.id)
  if (!move) return { deal, from: deal.stage }
  return { deal: move.deal, from: move.state === 'asked' ? move.from : move.to }
}

/** Returns a card to the stage that its move began in. */
export function goBack<Deal extends Card>(moved: MovedOf<Deal>, { deal, from }: MoveOf<Deal>): void {
  if (deal.stage === from) moved.delete(deal.id)
  else moved.set(deal.id, { deal, from, to: from, state: 'done' })
}
