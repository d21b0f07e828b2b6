import { type Choices, choicesOf, type StoredStage, saveChoices } from '../../db/choices.ts'
import type { Db, Tx } from '../../db/db.ts'
import type { FieldProblem } from '../../errors.ts'
import { recordChange } from '../../events/audit.ts'
import type { Context } from '../../events/context.ts'
import { defaultProbabilities, isStage, type OpenStage, type Stage, stages, statusOf } from './stages.ts'

/** An open deal that was not moved for this many days stands still. */
const default_stale_days = 14

/** A stage as the settings show it, with what is built in where the workspace has nothing of its own. */
export type StageSetting = {
  stage: Stage
  label: string | null
  colour: string | null
  probability: number
  stale_after_days: number | null
}
export type Settings = Omit<Choices, 'deal_stages'> & { deal_stages: StageSetting[] }
type SentStage = { stage: string } & Partial<StoredStage>
export type SentSettings = { [List in keyof Choices]?: (List extends 'deal_stages' ? SentStage : string)[] }

/** The stages of a workspace in its order, and the lists that its administrators keep. */
export async function stageSettings(db: Db, workspace_id: number): Promise<Settings> {
  const { deal_stages: stored, ...lists } = await choicesOf(db, workspace_id)
  const order = stored.length ? stored.map(({ stage }) => stage as Stage) : stages
  const deal_stages = order.map((stage) => {
    const own = stored.find((one) => one.stage === stage)
    return {
      stage,
      label: own?.label ?? null,
      colour: own?.colour ?? null,
      probability: own?.probability ?? defaultProbabilities[stage],
      stale_after_days: statusOf(stage) === 'open' ? (own?.stale_after_days ?? default_stale_days) : null,
    }
  })
  return { deal_stages, ...lists }
}

/** The probability of a deal without its own value, by stage. */
export async function probabilitiesOf(db: Db, workspace_id: number): Promise<Record<Stage, number>> {
  const { deal_stages } = await stageSettings(db, workspace_id)
  return Object.fromEntries(
    deal_stages.map(({ stage, probability }) => [stage, probability]),
  ) as typeof defaultProbabilities
}

/** The open stages in the order of the workspace. */
export async function openStagesOf(db: Db, workspace_id: number): Promise<OpenStage[]> {
  const { deal_stages } = await stageSettings(db, workspace_id)
  return deal_stages
    .map(({ stage }) => stage)
    .filter((stage): stage is OpenStage => statusOf(stage) === 'open')
}

/** Problems of settings that the schema cannot find. */
export function settingProblems({ deal_stages }: SentSettings): FieldProblem[] {
  if (!deal_stages) return []
  const problems: FieldProblem[] = []
  const add = (code: FieldProblem['code'], rule: string) =>
    problems.push({ field: 'deal_stages', code, message: `deal_stages must ${rule}.` })
  const sent = deal_stages.map(({ stage }) => stage).filter(isStage)
  const missing = stages.filter((stage) => !sent.includes(stage))
  if (missing.length) add('required', `have ${missing.join(', ')}, too`)
  if (new Set(sent).size < sent.length) add('not_unique', 'have each stage once')
  const last_open = sent.findLastIndex((stage) => statusOf(stage) === 'open')
  if (sent.slice(0, last_open).some((stage) => statusOf(stage) !== 'open'))
    add('not_allowed', 'end with won and lost')
  return problems
}

/** Replaces the lists that are sent. A value that equals the built-in one is stored as null. */
export async function changeSettings(tx: Tx, context: Context, sent: SentSettings): Promise<void> {
  const { workspace_id } = context
  const before = await choicesOf(tx, workspace_id)
  const after: Partial<Choices> = {}
  for (const [list, values] of Object.entries(sent) as [keyof Choices, never[]][]) {
    const stored = list === 'deal_stages' ? storedStages(values) : values
    if (JSON.stringify(stored) !== JSON.stringify(before[list])) Object.assign(after, { [list]: stored })
  }
  const changed = Object.keys(after) as (keyof Choices)[]
  if (!changed.length) return
  await saveChoices(tx, workspace_id, after)
  recordChange(tx, context, {
    action: 'updated',
    kind: 'workspaces',
    record_id: workspace_id,
    before: Object.fromEntries(changed.map((list) => [list, before[list]])),
    after,
  })
}

/** The stages as they are stored: none if everything is as it is built in. */
function storedStages(sent: readonly SentStage[]): StoredStage[] {
  const own = <T>(value: T | null | undefined, built_in?: T) =>
    value === undefined || value === built_in ? null : value
  const stored = sent.map(({ stage, label, colour, probability, stale_after_days }) => ({
    stage,
    label: own(label),
    colour: own(colour),
    probability: own(probability, defaultProbabilities[stage as Stage]),
    stale_after_days: statusOf(stage as Stage) === 'open' ? own(stale_after_days, default_stale_days) : null,
  }))
  const is_built_in = stored.every(
    ({ stage, ...values }, at) =>
      stage === stages[at] && Object.values(values).every((value) => value === null),
  )
  return is_built_in ? [] : stored
}
