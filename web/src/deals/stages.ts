import type { Schemas } from '../api/client.ts'

export type Stage = Schemas['DealOfList']['stage']

/** The stages in the order in which a deal usually passes them, each with its probability as long as a deal has none of its own. */
export const default_probabilities: Record<Stage, number> = {
  new_lead: 10,
  qualification: 20,
  demo: 40,
  proposal: 60,
  negotiation: 80,
  verbal_commitment: 90,
  won: 100,
  lost: 0,
}
export const stages = Object.keys(default_probabilities) as Stage[]

export const isOpen = (stage: Stage): boolean => stage !== 'won' && stage !== 'lost'
export const open_stages = stages.filter(isOpen)

/** The colour of a stage, for charts: one ramp from cool to warm, won green, lost a greyed red. */
export const stageColour = (stage: Stage): string => `var(--stage-${stage.replaceAll('_', '-')})`
