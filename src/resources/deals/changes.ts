import type { Db } from '../../db/db.ts'
import { lockRow } from '../../db/locks.ts'
import { factsOf, recordChange, sidesOf } from '../../events/audit.ts'
import { changesBetween } from '../../events/changes.ts'
import type { Context } from '../../events/context.ts'
import type { EventDefinition } from '../../events/define.ts'
import { emit } from '../../events/emit.ts'
import { notFound } from '../../http/errors.ts'
import { dealCreated, dealLost, dealStageChanged, dealUpdated, dealWon } from './events.ts'
import { addStage, findStoredDeal, insertDeal, type StoredDeal, updateDeal } from './queries.ts'
import { change_fields, type Deal, type PlainFields } from './schema.ts'
import { type DealState, type Decision, shownProbability } from './stages.ts'

export type Accepted = Extract<Decision, { problems?: undefined }>

const entries: Record<'won' | 'lost', EventDefinition> = { won: dealWon, lost: dealLost }

/** A live deal with the state of the rules; 404 when there is none. */
async function existingDeal(db: Db, workspace_id: number, id: number): Promise<StoredDeal> {
  const deal = await findStoredDeal(db, workspace_id, id)
  if (!deal) throw notFound('This deal')
  return deal
}

/** The same, kept for a change in this transaction. */
export async function dealToChange(tx: Db, workspace_id: number, id: number): Promise<StoredDeal> {
  await lockRow(tx, 'deals', workspace_id, id)
  return existingDeal(tx, workspace_id, id)
}

/** Adds a deal with its events: deal.created, and deal.won or deal.lost when it starts there. */
export async function createDeal(
  tx: Db,
  context: Context,
  fields: PlainFields,
  { state, entered }: Accepted,
): Promise<Deal> {
  const id = await insertDeal(tx, context, fields, state)
  const { shown } = await existingDeal(tx, context.workspace_id, id)
  const tell = async () => {
    await emit(tx, context, dealCreated, shown)
    if (entered) await emit(tx, context, entries[entered], shown)
  }
  const created = { action: 'created', kind: 'deals', record_id: id, after: factsOf(shown) }
  await Promise.all([tell(), recordChange(tx, context, created)])
  return shown
}

/**
 * Saves changed fields and what the rules decided, with history and events (contract: events). `telling` says whether
 * a stage change is told by deal.updated too (PUT) or by deal.stage_changed alone (change-stage).
 */
export async function changeDeal(
  tx: Db,
  context: Context,
  before: StoredDeal,
  fields: Partial<PlainFields>,
  { state, previous_stage, entered }: Accepted,
  telling: 'all' | 'stage_only',
): Promise<Deal> {
  const { id } = before.shown
  const ruled = changedColumns(before.state, state)
  const values = { ...fields, ...ruled }
  if (!Object.keys(values).length) return before.shown

  // A probability of its own that equals the default is kept, but shows nothing new: no event, no new updated_at.
  const touch = Object.keys(fields).length > 0 || shows(before.state) !== shows(state)
  await updateDeal(tx, context, id, values, touch)
  const { shown } = await existingDeal(tx, context.workspace_id, id)
  if (previous_stage) await addStage(tx, context, id, previous_stage, state.stage)

  const changes = changesBetween(before.shown, shown, change_fields)
  if (changes && (telling === 'all' || !previous_stage)) await emit(tx, context, dealUpdated, shown, changes)
  if (previous_stage)
    await emit(tx, context, dealStageChanged, { ...shown, previous_stage, new_stage: state.stage })
  if (entered) await emit(tx, context, entries[entered], shown)
  if (changes) {
    const action = previous_stage ? 'stage_changed' : 'updated'
    await recordChange(tx, context, { action, kind: 'deals', record_id: id, ...sidesOf(changes, shown) })
  }
  return shown
}

const changedColumns = (before: DealState, after: DealState): Partial<DealState> =>
  Object.fromEntries(
    Object.entries(after).filter(([name, value]) => before[name as keyof DealState] !== value),
  )

const shows = (state: DealState): string =>
  JSON.stringify([state.stage, shownProbability(state), state.lost_reason, state.closed_at])
