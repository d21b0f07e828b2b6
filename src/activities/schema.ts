import { type Static, Type } from 'typebox'
import { Id, OptionalId, OptionalText, OptionalTimestamp, Text, Timestamp } from '../http/fields.ts'

export const activity_types = ['call', 'email', 'meeting', 'task', 'other'] as const

/** The detail view of an activity, which its events carry. */
export const Activity = Type.Object({
  id: Id(),
  type: Type.Unsafe<(typeof activity_types)[number]>({ type: 'string', enum: activity_types }),
  subject: Text(255),
  body: OptionalText(65_535),
  due_at: OptionalTimestamp(),
  completed_at: OptionalTimestamp(),
  outcome: OptionalText(),
  contact_id: OptionalId(),
  company_id: OptionalId(),
  deal_id: OptionalId(),
  created_at: Timestamp(),
  updated_at: Timestamp(),
})
export type Activity = Static<typeof Activity>
