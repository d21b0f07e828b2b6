import type { Static } from 'typebox'
import type { Tx } from '../../db/db.ts'
import { refuse } from '../../errors.ts'
import type { Context } from '../../events/context.ts'
import { emit } from '../../events/emit.ts'
import { notifyMentioned } from '../../events/mentions.ts'
import { changedValues, valueProblems } from '../writing/input.ts'
import {
  type Change,
  type Create,
  lockRecord,
  saveChanges,
  standardOperations,
  verbOf,
} from '../writing/operations.ts'
import { recordsOf } from '../writing/records.ts'
import { activityCompleted, activityCreated } from './events.ts'
import { activities } from './resource.ts'
import type { Activity, ActivityCreate, ActivityFields, ActivityUpdate, Completion } from './schema.ts'

export const activityRecords = recordsOf<Activity, ActivityFields>(activities)

// The catalogue has no event for a removal and a restoration.
const standard = standardOperations(activityRecords, { created: activityCreated })
export const { remove: deleteActivity, restore: restoreActivity } = standard

/** Adds an activity: activity.created, and activity.completed when it is completed from the start. Notifies who is mentioned. */
export const createActivity: Create<Activity, Static<typeof ActivityCreate>> = async (
  tx,
  context,
  body,
  problems,
) => {
  const activity = await standard.create(tx, context, body, problems)
  await notifyMentioned(tx, context, { kind: activities.table, id: activity.id }, activity.body)
  if (activity.completed_at) await emit(tx, context, activityCompleted, activity)
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
  const before = await lockRecord(tx, context, activityRecords, id, expect)
  const values = changedValues(activities, body, before, problems)
  refuse([...problems, ...(await valueProblems(tx, context, activities, values, { problems, before }))])
  return save(tx, context, before, values)
}

/** Completes an activity. A completed one stays as it is, except for a new outcome. */
export const completeActivity = verbOf(
  activityRecords,
  (tx, context, before, body: Static<typeof Completion>) => {
    // Of concurrent completions, each but the first finds the activity completed.
    const completed_at = before.completed_at ?? context.now
    return save(tx, context, before, changedValues(activities, { ...body, completed_at }, before))
  },
)

/** Reopens a completed activity, whose outcome stays. An open one stays as it is. */
export const reopenActivity = verbOf(activityRecords, (tx, context, before) =>
  save(tx, context, before, changedValues(activities, { completed_at: null }, before)),
)

/**
 * Saves changed fields. Whatever request gives an open activity a time of completion completes it (contract:
 * activity.completed, once for each completion). No other change has an event; every change is in the audit log.
 */
async function save(
  tx: Tx,
  context: Context,
  before: Activity,
  values: Partial<ActivityFields>,
): Promise<Activity> {
  const action = actionOf(before, values)
  const { after } = await saveChanges(tx, context, activityRecords, before, values, { action })
  await notifyMentioned(tx, context, { kind: activities.table, id: after.id }, after.body, before.body)
  if (action === 'completed') await emit(tx, context, activityCompleted, after)
  return after
}

function actionOf(
  before: Activity,
  { completed_at = before.completed_at }: Partial<ActivityFields>,
): 'completed' | 'reopened' | 'updated' {
  if (!before.completed_at && completed_at) return 'completed'
  return before.completed_at && !completed_at ? 'reopened' : 'updated'
}
