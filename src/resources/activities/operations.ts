import type { Static } from 'typebox'
import type { Db } from '../../db/db.ts'
import type { Context } from '../../events/context.ts'
import { emit } from '../../events/emit.ts'
import { changedValues, newValues, valueProblems } from '../input.ts'
import {
  auditChanged,
  auditCreated,
  type Change,
  type Create,
  lockRecord,
  type Restore,
  refuse,
  saveChanges,
  standardOperations,
} from '../operations.ts'
import { recordsOf } from '../records.ts'
import { activityCompleted, activityCreated } from './events.ts'
import { activities } from './resource.ts'
import type {
  Activity,
  ActivityCreate,
  ActivityFields,
  ActivityUpdate,
  Completion,
  ListedActivity,
} from './schema.ts'

export const activityRecords = recordsOf<Activity, ListedActivity, ActivityFields>(activities)

/** Adds an activity: activity.created, and activity.completed when it is completed from the start. */
export const createActivity: Create<Activity, Static<typeof ActivityCreate>> = async (
  tx,
  context,
  body,
  problems,
) => {
  const values = newValues(activities, body) as ActivityFields
  refuse([...problems, ...(await valueProblems(tx, context.workspace_id, activities, values))])
  const activity = await activityRecords.insert(tx, context, values)
  await emit(tx, context, activityCreated, activity)
  if (activity.completed_at) await emit(tx, context, activityCompleted, activity)
  await auditCreated(tx, context, activities, activity)
  return activity
}

/** Changes an activity. A completed_at on an open activity completes it; null reopens it. */
export const changeActivity: Change<Activity, Static<typeof ActivityUpdate>> = async (
  tx,
  context,
  id,
  body,
  { problems, expect },
) => {
  const { workspace_id } = context
  const before = await lockRecord(tx, activityRecords, workspace_id, id, expect)
  const values = changedValues(activities, body, before) as Partial<ActivityFields>
  refuse([...problems, ...(await valueProblems(tx, workspace_id, activities, values))])
  return save(tx, context, before, values)
}

/** Completes an activity. A completed one stays as it is, except for a new outcome. */
export const completeActivity: Change<Activity, Static<typeof Completion>> = async (
  tx,
  context,
  id,
  body,
  { problems, expect },
) => {
  // Of concurrent completions, each but the first finds the activity completed.
  const before = await lockRecord(tx, activityRecords, context.workspace_id, id, expect)
  refuse(problems)
  const completed_at = before.completed_at ?? context.now
  return save(tx, context, before, changedValues(activities, { ...body, completed_at }, before))
}

/** Reopens a completed activity, whose outcome stays. An open one stays as it is. */
export const reopenActivity: Restore<Activity> = async (tx, context, id, { problems, expect }) => {
  const before = await lockRecord(tx, activityRecords, context.workspace_id, id, expect)
  refuse(problems)
  return save(tx, context, before, changedValues(activities, { completed_at: null }, before))
}

// The catalogue has no event for these two.
export const { remove: deleteActivity, restore: restoreActivity } = standardOperations(activityRecords)

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
