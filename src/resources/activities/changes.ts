import type { Db } from '../../db/db.ts'
import { lockRow } from '../../db/locks.ts'
import { factsOf, recordChange, sidesOf } from '../../events/audit.ts'
import { changesBetween } from '../../events/changes.ts'
import type { Context } from '../../events/context.ts'
import { emit } from '../../events/emit.ts'
import { orNotFound } from '../../http/records.ts'
import { activityCompleted, activityCreated } from './events.ts'
import { findActivity, insertActivity, updateActivity } from './queries.ts'
import { type Activity, type ActivityFields, activity_fields } from './schema.ts'

const existing = async (db: Db, workspace_id: number, id: number): Promise<Activity> =>
  orNotFound('activity', await findActivity(db, workspace_id, id))

/** A live activity, kept for a change in this transaction; 404 when there is none. */
export async function activityToChange(tx: Db, workspace_id: number, id: number): Promise<Activity> {
  // Of completions that come at once, each but the first finds the activity completed.
  await lockRow(tx, 'activities', workspace_id, id)
  return existing(tx, workspace_id, id)
}

/** Adds an activity: activity.created, and activity.completed when it is completed from the start. */
export async function createActivity(tx: Db, context: Context, fields: ActivityFields): Promise<Activity> {
  const id = await insertActivity(tx, context, fields)
  const shown = await existing(tx, context.workspace_id, id)
  await emit(tx, context, activityCreated, shown)
  if (shown.completed_at) await emit(tx, context, activityCompleted, shown)
  const entry = { action: 'created', kind: 'activities', record_id: id }
  await recordChange(tx, context, { ...entry, after: factsOf(shown) })
  return shown
}

/**
 * Saves changed fields. An activity that was open and has a time of completion now is completed, by whatever request
 * (contract: activity.completed, once per completion); no other change has an event, and every one is in the audit log.
 */
export async function changeActivity(
  tx: Db,
  context: Context,
  before: Activity,
  changes: Partial<ActivityFields>,
): Promise<Activity> {
  if (!Object.keys(changes).length) return before
  await updateActivity(tx, context, before.id, changes)
  const after = await existing(tx, context.workspace_id, before.id)
  const action = actionOf(before, after)
  if (action === 'completed') await emit(tx, context, activityCompleted, after)
  const told = changesBetween(before, after, activity_fields)
  const entry = { action, kind: 'activities', record_id: before.id }
  if (told) await recordChange(tx, context, { ...entry, ...sidesOf(told, after) })
  return after
}

function actionOf(before: Activity, after: Activity): 'completed' | 'reopened' | 'updated' {
  if (!before.completed_at && after.completed_at) return 'completed'
  return before.completed_at && !after.completed_at ? 'reopened' : 'updated'
}
