const built_in = {
  new_lead: 10,
  qualification: 20,
  demo: 40,
  proposal: 60,
  negotiation: 80,
  verbal_commitment: 90,
  won: 100,
  lost: 0,
}
export type Stage = keyof typeof built_in

/** A stage as the workspace has it; null where it is as it is built in. */
export type OwnStage = {
  stage: string
  label: string | null
  colour: string | null
  probability: number | null
  stale_after_days: number | null
}

export const isOpen = (stage: Stage): boolean => stage !== 'won' && stage !== 'lost'
/** The stages as they are built in. */
export const known_stages = Object.keys(built_in) as Stage[]

// LanguageProvider sets these to the stages of the workspace before a page is drawn.
/** The stages in the order of the workspace. */
export let stages: readonly Stage[] = known_stages
export let open_stages: readonly Stage[] = stages.filter(isOpen)
/** The probability of a deal without its own value, by stage. */
export let default_probabilities: Readonly<Record<Stage, number>> = built_in
/** An open deal that was not moved for this many days stands still, by stage. */
export let staleAfter: (stage: Stage) => number = () => default_stale_days
const default_stale_days = 14

/** The variable with the colour of a stage: a ramp from cool to warm, won green, lost grey-red. */
export const stageVariable = (stage: Stage) => `--stage-${stage.replaceAll('_', '-')}`
export const stageColour = (stage: Stage): string => `var(${stageVariable(stage)})`

/** Takes over the order and the defaults of the workspace. Without stages of its own, they are as they are built in. */
export function setStages(own: readonly OwnStage[]): void {
  const found = new Map(own.map((one) => [one.stage as Stage, one]))
  stages = found.size ? [...found.keys()] : known_stages
  open_stages = stages.filter(isOpen)
  const probabilityOf = (stage: Stage) => found.get(stage)?.probability ?? built_in[stage]
  default_probabilities = Object.fromEntries(
    stages.map((stage) => [stage, probabilityOf(stage)]),
  ) as typeof built_in
  staleAfter = (stage) => found.get(stage)?.stale_after_days ?? default_stale_days
}
