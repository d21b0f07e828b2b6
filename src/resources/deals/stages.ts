/** The stages in the order in which a deal usually passes them (contract: deal stages). */
export const stages = [
  'new_lead',
  'qualification',
  'demo',
  'proposal',
  'negotiation',
  'verbal_commitment',
  'won',
  'lost',
] as const

export type Stage = (typeof stages)[number]
export type Status = 'open' | 'won' | 'lost'

/** The stages of an open deal, in their order. */
export const open_stages = stages.slice(0, -2) as Exclude<Stage, 'won' | 'lost'>[]
export type OpenStage = (typeof open_stages)[number]

/**
 * The place of a stage among the open stages. A deal that was won has passed all of them. A lost deal has passed those
 * before it was lost, and its history tells which. The workspace may have another order.
 */
export function placeOf(stage: Stage, order: readonly OpenStage[] = open_stages): number {
  if (stage === 'lost') return 0
  return stage === 'won' ? order.length - 1 : order.indexOf(stage)
}

const defaultStage: Stage = 'new_lead'

/** The probability of a deal without its own value, in percent (contract: deals), where the workspace has no other one. */
export const defaultProbabilities: Record<Stage, number> = {
  new_lead: 10,
  qualification: 20,
  demo: 40,
  proposal: 60,
  negotiation: 80,
  verbal_commitment: 90,
  won: 100,
  lost: 0,
}

/**
 * The columns that the rules set. A deal has two probabilities, one for open and one for closed. So a reopened deal
 * shows its old value again. Null shows the default.
 */
export type DealState = {
  stage: Stage
  own_probability: number | null
  closed_probability: number | null
  lost_reason: string | null
  closed_at: string | null
}

/** The fields of a valid body that the rules use. Texts are trimmed, and '' is null. */
export type DealInput = { stage?: string | null; probability?: number | null; lost_reason?: string | null }

export type DealWrite = 'create' | 'update' | 'change_stage'

type Problem = {
  field: 'stage' | 'lost_reason'
  code: 'required' | 'unknown_value' | 'not_allowed'
  message: string
}

/** `previous_stage` is null unless the stage changed. `entered` is null unless the deal entered won or lost. */
export type Decision =
  | { state: DealState; previous_stage: Stage | null; entered: 'won' | 'lost' | null; problems?: undefined }
  | { problems: Problem[] }

export function isStage(value: string): value is Stage {
  return (stages as readonly string[]).includes(value)
}

/** The status of a stage. Nothing else sets it (contract: deals). */
export function statusOf(stage: Stage): Status {
  return stage === 'won' || stage === 'lost' ? stage : 'open'
}

/** The probability that answers show: an integer from 0 to 100, never null. */
export function shownProbability(
  state: Pick<DealState, 'stage' | 'own_probability' | 'closed_probability'>,
  defaults: Readonly<Record<Stage, number>> = defaultProbabilities,
): number {
  const sent = statusOf(state.stage) === 'open' ? state.own_probability : state.closed_probability
  return sent ?? defaults[state.stage]
}

/**
 * The next state of a deal for POST (`create`, current is null), PUT (`update`) and change-stage, or all problems. The
 * next state equals the current one if nothing changed. `now` (ISO 8601) becomes `closed_at` when the deal enters won
 * or lost (contract: deals, fine print), and `closed_at` that of a deal which is closed already. `restores`: a
 * deal becomes lost again, as it was, with or without a reason. `defaults`: the probabilities of the workspace.
 */
export function decide(
  current: DealState | null,
  input: DealInput,
  context: {
    now: string
    closed_at?: string | undefined
    restores?: boolean
    operation: DealWrite
    defaults?: Readonly<Record<Stage, number>> | undefined
  },
): Decision {
  const problems: Problem[] = []
  const stage = nextStage(current, input.stage, context.operation, problems)
  const lostReason = nextLostReason(current, stage, input.lost_reason, context, problems)
  if (stage === null || problems.length > 0) return { problems }

  const status = statusOf(stage)
  const moved = stage !== current?.stage
  const state: DealState = {
    stage,
    ...nextProbabilities(current, stage, input.probability, context),
    lost_reason: lostReason,
    closed_at:
      status === 'open' ? null : moved ? context.now : (context.closed_at ?? current?.closed_at ?? null),
  }
  return {
    state,
    previous_stage: moved ? (current?.stage ?? null) : null,
    entered: moved && status !== 'open' ? status : null,
  }
}

function nextStage(
  current: DealState | null,
  sent: string | null | undefined,
  operation: DealWrite,
  problems: Problem[],
): Stage | null {
  if (sent === undefined && operation === 'update') return current?.stage ?? defaultStage
  if (sent === undefined || sent === null) {
    if (operation === 'create') return defaultStage
    problems.push({ field: 'stage', code: 'required', message: 'stage is required.' })
    return null
  }
  if (isStage(sent)) return sent
  problems.push({
    field: 'stage',
    code: 'unknown_value',
    message: `stage must be one of ${stages.join(', ')}.`,
  })
  return null
}

function nextLostReason(
  current: DealState | null,
  stage: Stage | null,
  sent: string | null | undefined,
  { operation, restores = false }: { operation: DealWrite; restores?: boolean },
  problems: Problem[],
): string | null {
  const refuse = (code: Problem['code'], message: string) => {
    problems.push({ field: 'lost_reason', code, message })
    return null
  }
  if (current === null) {
    return sent ? refuse('not_allowed', 'lost_reason is not accepted when a deal is created.') : null
  }
  // Without a valid stage, a reason cannot be judged. The problem of the stage is enough.
  if (stage === null) return null

  // A PUT may send back a reason that it has read. A reason that equals the stored one counts as absent.
  const reason = operation === 'update' && sent === current.lost_reason ? undefined : sent
  if (stage !== 'lost') {
    return reason ? refuse('not_allowed', 'lost_reason is only accepted for a deal in stage lost.') : null
  }
  if (reason || restores) return reason ?? null
  // change-stage needs a reason only on entering lost: null keeps the reason. In a PUT, null would erase it.
  const keepsReason = current.stage === 'lost' && (reason === undefined || operation === 'change_stage')
  return keepsReason ? current.lost_reason : refuse('required', 'lost_reason is required in stage lost.')
}

function nextProbabilities(
  current: DealState | null,
  stage: Stage,
  sent: number | null | undefined,
  { operation, defaults }: { operation: DealWrite; defaults?: Readonly<Record<Stage, number>> | undefined },
): Pick<DealState, 'own_probability' | 'closed_probability'> {
  // A PUT may send back a probability that it has read. A default must not become the deal's own value.
  const readBack = operation === 'update' && current !== null && sent === shownProbability(current, defaults)
  const value = readBack ? undefined : sent
  const own = current?.own_probability ?? null
  if (statusOf(stage) === 'open') {
    return { own_probability: value === undefined ? own : value, closed_probability: null }
  }
  // A value for won does not carry over to lost, nor the other way round.
  const held = stage === current?.stage ? current.closed_probability : null
  return { own_probability: own, closed_probability: value === undefined ? held : value }
}
