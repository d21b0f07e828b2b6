import { sql } from 'kysely'
import type { Static } from 'typebox'
import type { Tx } from '../../db/db.ts'
import { prepareById } from '../../db/statements/bulk.ts'
import { prepareInsert } from '../../db/statements/recordset.ts'
import { type FieldProblem, refuse } from '../../errors.ts'
import { storedActor } from '../../events/actors.ts'
import type { Context } from '../../events/context.ts'
import type { Changes, EventDefinition } from '../../events/define.ts'
import { emit, prepareEmit } from '../../events/emit.ts'
import { changedValues, newValues, valueProblems } from '../writing/input.ts'
import {
  addRecord,
  type Change,
  type Create,
  lockRecord,
  saveChanges,
  standardOperations,
} from '../writing/operations.ts'
import { recordsOf } from '../writing/records.ts'
import { dealCreated, dealDeleted, dealLost, dealStageChanged, dealUpdated, dealWon } from './events.ts'
import { deals } from './resource.ts'
import type { Deal, DealCreate, DealUpdate, PlainFields, StageChange } from './schema.ts'
import { probabilitiesOf } from './settings.ts'
import {
  type DealInput,
  type DealState,
  type Decision,
  decide,
  type Stage,
  shownProbability,
  statusOf,
} from './stages.ts'

export const dealRecords = recordsOf<Deal, PlainFields>(deals)

type Accepted = Extract<Decision, { problems?: undefined }>

const entryEvents: Record<'won' | 'lost', EventDefinition> = { won: dealWon, lost: dealLost }

/** Adds a deal with its events: deal.created, then deal.won or deal.lost when it starts there. */
export const createDeal: Create<Deal, Static<typeof DealCreate>> = async (tx, context, body, problems) => {
  const values = newValues(deals, body, problems) as PlainFields
  const { closes_at } = closingTime(context, body)
  const decision = judge(null, body, { now: closes_at, operation: 'create' }, problems)
  const { state, entered } = await accepted(tx, context, decision, values, problems)
  prepareEmit(tx, context.workspace_id, [dealCreated, entered && entryEvents[entered]])
  const deal = await addRecord(tx, context, dealRecords, values, state)
  addStage(tx, context, deal.id, null, state.stage, entered ? closes_at : context.now)
  await emit(tx, context, dealCreated, deal)
  if (entered) await emit(tx, context, entryEvents[entered], deal)
  return deal
}

const changeBy =
  (operation: 'update' | 'change_stage'): Change<Deal, DealInput> =>
  async (tx, context, id, body, { problems, expect }) => {
    if (body.stage === undefined) prepareEmit(tx, context.workspace_id, [dealUpdated])
    const before = await lockRecord(tx, context, dealRecords, id, expect)
    // Only a sent probability is compared with the defaults.
    const [state, defaults] = await Promise.all([
      stateOf(tx, context, id),
      body.probability === undefined ? undefined : probabilitiesOf(tx, context.workspace_id),
    ])
    // The schema of change-stage refuses all other fields.
    const values = changedValues(deals, body, before, problems)
    const { closes_at, closed_at } = closingTime(context, body)
    const told = { now: closes_at, closed_at, restores: isRestored(context, body) }
    const decision = judge(state, body, { ...told, operation, defaults }, problems)
    const found = [...problems, ...againstState(context, body, state)]
    const next = await accepted(tx, context, decision, values, found, before)
    const { after, changes } = await save(tx, context, before, values, state, { ...next, defaults })
    const { previous_stage, entered } = next
    if (changes && (operation === 'update' || !previous_stage))
      await emit(tx, context, dealUpdated, after, changes)
    if (previous_stage)
      await emit(tx, context, dealStageChanged, { ...after, previous_stage, new_stage: after.stage })
    if (entered) await emit(tx, context, entryEvents[entered], after)
    return after
  }

/** Changes a deal. A new stage follows the same rules as changeStage, and deal.updated names it, too. */
export const changeDeal: Change<Deal, Static<typeof DealUpdate>> = changeBy('update')

/** Moves a deal to a stage: deal.stage_changed. Without another stage, deal.updated if the probability or reason changes. */
export const changeStage: Change<Deal, Static<typeof StageChange>> = changeBy('change_stage')

export const { remove: deleteDeal, restore: restoreDeal } = standardOperations(dealRecords, {
  updated: dealUpdated,
  deleted: dealDeleted,
})

const stateById = prepareById<{ workspace_id: number; id: number }, DealState & { id: number }>(
  (is, p) => sql<
    DealState & { id: number }
  >`SELECT id, stage, own_probability, closed_probability, lost_reason, closed_at
      FROM deals WHERE workspace_id = ${p.workspace_id} AND ${is('id')}`,
)

/** The columns of a deal that the rules work on. */
async function stateOf(tx: Tx, { workspace_id }: Context, id: number): Promise<DealState> {
  const { id: _, ...state } = (await stateById(tx, { workspace_id, id })) as DealState & { id: number }
  return state
}

const utc_time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/**
 * When a deal that enters won or lost has closed: now, or at the earlier time (UTC) that the file of an import tells, which
 * may be a day alone (`stage_since`). `closed_at` is also the time of a deal that is closed already.
 */
function closingTime({ source, now }: Context, body: object): { closes_at: string; closed_at?: string } {
  const { closed_at, stage_since } = body as { closed_at?: unknown; stage_since?: unknown }
  const isTold = (time: unknown): time is string =>
    source === 'import' && typeof time === 'string' && utc_time.test(time) && time < now
  if (isTold(closed_at)) return { closes_at: closed_at, closed_at }
  return { closes_at: isTold(stage_since) ? stage_since : now }
}

/** Whether the undo of an import gives a deal back that was lost. It may have had no reason. Rows have no such status. */
const isRestored = ({ source }: Context, body: object): boolean =>
  source === 'import' && (body as { status?: unknown }).status === 'lost'

/** A row of an import may say that a closed deal is open. Without a stage, nothing tells where it goes back to. */
function againstState({ source }: Context, body: DealInput, { stage }: DealState): FieldProblem[] {
  const { status } = body as { status?: unknown }
  if (source !== 'import' || status !== 'open' || body.stage !== undefined || statusOf(stage) === 'open')
    return []
  const message = `The status is open, but the deal is ${stage}. Write the stage to which it goes back.`
  return [{ field: 'status', code: 'not_allowed', message }]
}

/**
 * Applies the rules of the stages. A field that the schema refused counts as absent, except the stage: the rules refuse
 * an unknown stage, too.
 */
function judge(
  current: DealState | null,
  body: DealInput,
  context: Parameters<typeof decide>[2],
  problems: readonly FieldProblem[],
): Decision {
  const refused = new Set(problems.map(({ field }) => field))
  const input: DealInput = {
    stage: body.stage,
    probability: refused.has('probability') ? undefined : body.probability,
    lost_reason: refused.has('lost_reason') ? undefined : body.lost_reason,
  }
  return decide(current, input, context)
}

/** The decision of the rules; throws 422 with the problems of the schema, the rules, the values and the references. */
async function accepted(
  tx: Tx,
  context: Context,
  decision: Decision,
  values: object,
  problems: readonly FieldProblem[],
  before: Deal | null = null,
): Promise<Accepted> {
  const known = { problems: [...problems, ...(decision.problems ?? [])], before }
  refuse([...known.problems, ...(await valueProblems(tx, context, deals, values, known))])
  return decision as Accepted
}

/** Saves changed fields and the state that the rules decided, with the history of stages. */
async function save(
  tx: Tx,
  context: Context,
  before: Deal,
  values: Partial<PlainFields>,
  state: DealState,
  next: Accepted & { defaults: Record<Stage, number> | undefined },
): Promise<{ after: Deal; changes: Changes | null }> {
  const set = changedColumns(state, next.state)
  // A probability that equals the default is stored, but no view shows it: no event, and the same updated_at.
  const touch =
    Object.keys(values).length > 0 ||
    shownState(state, next.defaults) !== shownState(next.state, next.defaults)
  const action = next.previous_stage ? 'stage_changed' : 'updated'
  const saved = await saveChanges(tx, context, dealRecords, before, values, { action, set, touch })
  const at = next.entered && next.state.closed_at
  if (next.previous_stage)
    addStage(tx, context, before.id, next.previous_stage, next.state.stage, at || context.now)
  return saved
}

const changedColumns = (before: DealState, after: DealState): Partial<DealState> =>
  Object.fromEntries(
    Object.entries(after).filter(([name, value]) => before[name as keyof DealState] !== value),
  )

const shownState = (state: DealState, defaults: Record<Stage, number> | undefined): string =>
  JSON.stringify([state.stage, shownProbability(state, defaults), state.lost_reason, state.closed_at])

const insertStages = prepareInsert('deal_stages', {
  workspace_id: 'bigint!',
  deal_id: 'bigint!',
  from_stage: 'text',
  to_stage: 'text!',
  changed_at: 'text!',
  changed_by: 'text!',
})

/** Adds an entry to the history of a deal's stages; `from` is null when the deal is created. */
function addStage(
  tx: Tx,
  { workspace_id, actor }: Context,
  deal_id: number,
  from_stage: string | null,
  to_stage: string,
  changed_at: string,
): void {
  const changed_by = storedActor(actor)
  const stage = { workspace_id, deal_id, from_stage, to_stage, changed_at, changed_by }
  tx.rows(insertStages, [stage])
}
