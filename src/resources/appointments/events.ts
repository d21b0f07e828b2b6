import { Type } from 'typebox'
import { defineEvent, exampleOf } from '../../events/define.ts'
import { Appointment } from './schema.ts'

const example = {
  ...(exampleOf(Appointment) as object),
  id: 5,
  title: 'Product demo',
  type: 'demo',
  start_at: '2026-11-25T10:00:00.000Z',
  end_at: '2026-11-25T10:30:00.000Z',
  contact_id: 42,
  booking_page_id: 2,
  deal_id: 7,
  location: 'Video call',
  notes: null,
  status: 'scheduled',
  cancel_reason: null,
  created_at: '2026-11-21T08:30:00.000Z',
  updated_at: '2026-11-21T08:30:00.000Z',
}
const { id, title, type, start_at, end_at, contact_id, booking_page_id } = example

// The contract specifies these keys and no others.
const keys = ['id', 'title', 'type', 'start_at', 'end_at', 'contact_id', 'booking_page_id'] as const

export const appointmentCreated = defineEvent(
  'appointment.created',
  'An appointment was booked or created.',
  Type.Pick(Appointment, keys),
  { id, title, type, start_at, end_at, contact_id, booking_page_id },
)
export const appointmentUpdated = defineEvent(
  'appointment.updated',
  'An appointment was changed, moved or restored.',
  Appointment,
  example,
)
export const appointmentCancelled = defineEvent(
  'appointment.cancelled',
  'An appointment was cancelled, or deleted while it was scheduled.',
  Appointment,
  { ...example, status: 'cancelled', cancel_reason: 'Customer is ill' },
)
