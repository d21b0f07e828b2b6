import { defineEvent, exampleOf } from '../../events/define.ts'
import { Activity } from './schema.ts'

const example = {
  ...(exampleOf(Activity) as object),
  id: 12,
  type: 'call',
  subject: 'Talk about the offer',
  body: null,
  due_at: '2026-11-24T09:00:00.000Z',
  completed_at: null,
  outcome: null,
  contact_id: 42,
  company_id: 7,
  deal_id: 3,
  created_at: '2026-11-21T08:30:00.000Z',
  updated_at: '2026-11-21T08:30:00.000Z',
}
const completed = {
  ...example,
  completed_at: '2026-11-24T09:20:00.000Z',
  outcome: 'Sends the order on Friday',
}

export const activityCreated = defineEvent('activity.created', 'An activity was created.', Activity, example)
export const activityCompleted = defineEvent(
  'activity.completed',
  'An activity was completed, for the first time or again after it was reopened.',
  Activity,
  completed,
)
