import { type Static, Type } from 'typebox'
import { Id, OptionalId, OptionalText, Text, Timestamp } from '../http/fields.ts'

export const appointment_statuses = ['scheduled', 'cancelled'] as const

/** The detail view of an appointment, which its events carry. */
export const Appointment = Type.Object({
  id: Id(),
  title: Text(255),
  type: OptionalText(64),
  start_at: Timestamp(),
  end_at: Timestamp(),
  contact_id: OptionalId(),
  booking_page_id: OptionalId(),
  location: OptionalText(),
  notes: OptionalText(65_535),
  status: Type.Unsafe<(typeof appointment_statuses)[number]>({ type: 'string', enum: appointment_statuses }),
  created_at: Timestamp(),
  updated_at: Timestamp(),
})
export type Appointment = Static<typeof Appointment>
