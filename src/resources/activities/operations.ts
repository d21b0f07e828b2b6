import type { Static } from 'typebox'
import type { Db } from '../../db/db.ts'
import type { Context } from '../../events/context.ts'
import { emit } from '../../events/emit.ts'
import type { FieldProblem } from '../../http/errors.ts'
import { changedValues, newValues, valueProblems } from '../input.ts'
import {
  auditChanged,
  auditCreated,
  type Expect,
  lockRecord,
  moveFromTrash,
  moveToTrash,
  refuse,
  type Sent,
  saveChanges,
} from '../operations.ts'
import { recordsOf } from '../records.ts'
import { activityCompleted, activityCreated } from './events.ts'
import { activities } from './resource.ts'
import type { Activity, ActivityBody, ActivityFields, Completion, ListedActivity } from './schema.ts'

export const activityRecords = recordsOf<Activity, ListedActivity, ActivityFields>(activities)

/** Adds an activity: activity.created, and activity.completed when it is completed from the start. */
export async function createActivity(
  tx: Db,
  context: Context,
  body: ActivityBody,
  problems: readonly FieldProblem[],
): Promise<Activity> {
  const values = newValues(activities, body) as ActivityFields
  refuse([...problems, ...(await valueProblems(tx, context.workspace_id, activities, values))])
  const activity = await activityRecords.insert(tx, context, values)
  await emit(tx, context, activityCreated, activity)
  if (activity.completed_at) await emit(tx, context, activityCompleted, activity)
  await auditCreated(tx, context, activities, activity)
  return activity
}

/** Changes an activity. A completed_at on an open activity completes it; null reopens it. */
export async function changeActivity(
  tx: Db,
  context: Context,
  id: number,
  body: ActivityBody,
  { problems, expect }: Sent,
): Promise<Activity> {
  const { workspace_id } = context
  const before = await lockRecord(tx, activityRecords, workspace_id, id, expect)
  const values = changedValues(activities, body, before) as Partial<ActivityFields>
  refuse([...problems, ...(await valueProblems(tx, workspace_id, activities, values))])
  return save(tx, context, before, values)
}

/** Completes an activity. A completed one stays as it is, except for a new outcome. */
export async function completeActivity(
  tx: Db,
  context: Context,
  id: number,
  body: Static<typeof Completion>,
  { problems, expect }: Sent,
): Promise<Activity> {
  // Of concurrent completions, each but the first finds the activity completed.
  const before = await lockRecord(tx, activityRecords, context.workspace_id, id, expect)
  refuse(problems)
  const completed_at = before.completed_at ?? context.now
  return save(tx, context, before, changedValues(activities, { ...body, completed_at }, before))
}

/** Reopens a completed activity, whose outcome stays. An open one stays as it is. */
export async function reopenActivity(
  tx: Db,
  context: Context,
  id: number,
  { problems, expect }: Sent,
): Promise<Activity> {
  const before = await lockRecord(tx, activityRecords, context.workspace_id, id, expect)
  refuse(problems)
  return save(tx, context, before, changedValues(activities, { completed_at: null }, before))
}

/** Moves an activity to the trash. The catalogue has no event for it. */
export const deleteActivity = (tx: Db, context: Context, id: number, expect: Expect): Promise<Activity> =>
  moveToTrash(tx, context, activityRecords, id, expect)

/** Brings an activity back from the trash. The catalogue has no event for it. */
export async function restoreActivity(tx: Db, context: Context, id: number, sent: Sent): Promise<Activity> {
  return (await moveFromTrash(tx, context, activityRecords, id, sent)).record
}

/**
 * Saves changed fields. Whatever request gives an open activity a time of completion completes it (contract:
 * activity.completed, once for each completion). No other change has an event; every change is in the audit log.
 */
async function save(
  tx: Db,
  context: Context,
  before: Activity,
  values: Partial<ActivityFields>,
): Promise<Activity> {
  if (!Object.keys(values).length) return before
  const { after, changes } = await saveChanges(tx, context, activityRecords, before, values)
  const action = actionOf(before, after)
  if (action === 'completed') await emit(tx, context, activityCompleted, after)
  if (changes) await auditChanged(tx, context, activities, after, changes, action)
  return after
}

function actionOf(before: Activity, after: Activity): 'completed' | 'reopened' | 'updated' {
  if (!before.completed_at && after.completed_at) return 'completed'
  return before.completed_at && !after.completed_at ? 'reopened' : 'updated'
}
