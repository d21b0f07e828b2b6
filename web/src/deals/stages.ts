/** The stages in their usual order, with the default probability of each. */
export const default_probabilities = {
  new_lead: 10,
  qualification: 20,
  demo: 40,
  proposal: 60,
  negotiation: 80,
  verbal_commitment: 90,
  won: 100,
  lost: 0,
}
export type Stage = keyof typeof default_probabilities
export const stages = Object.keys(default_probabilities) as Stage[]

export const isOpen = (stage: Stage): boolean => stage !== 'won' && stage !== 'lost'
export const open_stages = stages.filter(isOpen)

/** The colour of a stage in charts: a ramp from cool to warm, won green, lost grey-red. */
export const stageColour = (stage: Stage): string => `var(--stage-${stage.replaceAll('_', '-')})`
