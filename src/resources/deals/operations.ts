import type { Static } from 'typebox'
import type { Db } from '../../db/db.ts'
import { prepare } from '../../db/statements/prepare.ts'
import type { FieldProblem } from '../../errors.ts'
import type { Context } from '../../events/context.ts'
import type { Changes, EventDefinition } from '../../events/define.ts'
import { emit } from '../../events/emit.ts'
import { changedValues, newValues, valueProblems } from '../input.ts'
import {
  auditChanged,
  auditCreated,
  type Change,
  type Create,
  type Expect,
  lockRecord,
  refuse,
  saveChanges,
  standardOperations,
} from '../operations.ts'
import { recordsOf } from '../records.ts'
import { dealCreated, dealDeleted, dealLost, dealStageChanged, dealUpdated, dealWon } from './events.ts'
import { deals } from './resource.ts'
import type { Deal, DealCreate, DealUpdate, ListedDeal, PlainFields, StageChange } from './schema.ts'
import {
  type DealInput,
  type DealState,
  type Decision,
  decide,
  type Operation,
  shownProbability,
} from './stages.ts'

export const dealRecords = recordsOf<Deal, ListedDeal, PlainFields>(deals, {
  probability: {
    from: ['own_probability', 'closed_probability'],
    value: (row) => shownProbability(row as DealState),
  },
})

type Accepted = Extract<Decision, { problems?: undefined }>

const entryEvents: Record<'won' | 'lost', EventDefinition> = { won: dealWon, lost: dealLost }

/** Adds a deal with its events: deal.created, then deal.won or deal.lost when it starts there. */
export const createDeal: Create<Deal, Static<typeof DealCreate>> = async (tx, context, body, problems) => {
  const values = newValues(deals, body) as PlainFields
  const decision = judge(null, body, { now: context.now, operation: 'create' }, problems)
  const { state, entered } = await accepted(tx, context, decision, values, problems)
  const deal = await dealRecords.insert(tx, context, values, state)
  await addStage(tx, context, deal.id, null, state.stage)
  const emitAll = async () => {
    await emit(tx, context, dealCreated, deal)
    if (entered) await emit(tx, context, entryEvents[entered], deal)
  }
  await Promise.all([emitAll(), auditCreated(tx, context, deals, deal)])
  return deal
}

/** Changes a deal. A new stage follows the same rules as changeStage, and deal.updated names it, too. */
export const changeDeal: Change<Deal, Static<typeof DealUpdate>> = async (
  tx,
  context,
  id,
  body,
  { problems, expect },
) => {
  const { deal, state } = await lockDeal(tx, context, id, expect)
  const values = changedValues(deals, body, deal) as Partial<PlainFields>
  const decision = judge(state, body, { now: context.now, operation: 'update' }, problems)
  const next = await accepted(tx, context, decision, values, problems)
  const { after, changes } = await save(tx, context, deal, values, state, next)
  if (changes) await emit(tx, context, dealUpdated, after, changes)
  await emitStage(tx, context, after, next)
  await audit(tx, context, after, changes, next)
  return after
}

/** Moves a deal to a stage. deal.stage_changed tells of it, and deal.updated of another probability or reason. */
export const changeStage: Change<Deal, Static<typeof StageChange>> = async (
  tx,
  context,
  id,
  body,
  { problems, expect },
) => {
  const { deal, state } = await lockDeal(tx, context, id, expect)
  const decision = judge(state, body, { now: context.now, operation: 'change_stage' }, problems)
  const next = await accepted(tx, context, decision, {}, problems)
  const { after, changes } = await save(tx, context, deal, {}, state, next)
  if (changes && !next.previous_stage) await emit(tx, context, dealUpdated, after, changes)
  await emitStage(tx, context, after, next)
  await audit(tx, context, after, changes, next)
  return after
}

export const { remove: deleteDeal, restore: restoreDeal } = standardOperations(dealRecords, {
  updated: dealUpdated,
  deleted: dealDeleted,
})

const stateById = prepare((db, p: { workspace_id: number; id: number }) =>
  db
    .selectFrom('deals')
    .select(['stage', 'own_probability', 'closed_probability', 'lost_reason', 'closed_at'])
    .where('workspace_id', '=', p.workspace_id)
    .where('id', '=', p.id),
)

/** A live deal, locked for a change, and the state that the rules work on. */
async function lockDeal(tx: Db, { workspace_id }: Context, id: number, expect: Expect) {
  const deal = await lockRecord(tx, dealRecords, workspace_id, id, expect)
  const [state] = await stateById(tx, { workspace_id, id })
  return { deal, state: state as DealState }
}

/**
 * Applies the rules of the stages. A field that the schema refused counts as absent, except the stage: a stage that the
 * schema refused is unknown to the rules, too.
 */
function judge(
  current: DealState | null,
  body: DealInput,
  context: { now: string; operation: Operation },
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

/** What the rules decided; throws 422 with the problems of the schema, the rules, the values and the references. */
async function accepted(
  tx: Db,
  { workspace_id }: Context,
  decision: Decision,
  values: object,
  problems: readonly FieldProblem[],
): Promise<Accepted> {
  refuse([
    ...problems,
    ...(decision.problems ?? []),
    ...(await valueProblems(tx, workspace_id, deals, values)),
  ])
  return decision as Accepted
}

/** Saves changed fields and the state that the rules decided, with the history of stages. */
async function save(
  tx: Db,
  context: Context,
  before: Deal,
  values: Partial<PlainFields>,
  state: DealState,
  next: Accepted,
): Promise<{ after: Deal; changes: Changes | null }> {
  const set = changedColumns(state, next.state)
  if (!Object.keys(values).length && !Object.keys(set).length) return { after: before, changes: null }
  // A probability that equals the default is stored, but no view shows it: no event, and the same updated_at.
  const touch = Object.keys(values).length > 0 || shownState(state) !== shownState(next.state)
  const saved = await saveChanges(tx, context, dealRecords, before, values, { set, touch })
  if (next.previous_stage) await addStage(tx, context, before.id, next.previous_stage, next.state.stage)
  return saved
}

const changedColumns = (before: DealState, after: DealState): Partial<DealState> =>
  Object.fromEntries(
    Object.entries(after).filter(([name, value]) => before[name as keyof DealState] !== value),
  )

const shownState = (state: DealState): string =>
  JSON.stringify([state.stage, shownProbability(state), state.lost_reason, state.closed_at])

async function emitStage(tx: Db, context: Context, deal: Deal, { state, previous_stage, entered }: Accepted) {
  if (previous_stage)
    await emit(tx, context, dealStageChanged, { ...deal, previous_stage, new_stage: state.stage })
  if (entered) await emit(tx, context, entryEvents[entered], deal)
}

async function audit(tx: Db, context: Context, deal: Deal, changes: Changes | null, next: Accepted) {
  const action = next.previous_stage ? 'stage_changed' : 'updated'
  if (changes) await auditChanged(tx, context, deals, deal, changes, action)
}

const insertStage = prepare(
  (
    db,
    p: { workspace_id: number; deal_id: number; from: string | null; to: string; at: string; by: string },
  ) =>
    db.insertInto('deal_stages').values({
      workspace_id: p.workspace_id,
      deal_id: p.deal_id,
      from_stage: p.from,
      to_stage: p.to,
      changed_at: p.at,
      changed_by: p.by,
    }),
)

/** Adds an entry to the history of a deal's stages; `from` is null when the deal is created. */
async function addStage(
  tx: Db,
  { workspace_id, actor, now }: Context,
  deal_id: number,
  from: string | null,
  to: string,
): Promise<void> {
  await insertStage(tx, { workspace_id, deal_id, from, to, at: now, by: actor.id ?? actor.kind })
}
