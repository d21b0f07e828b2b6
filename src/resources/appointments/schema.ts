import { type Static, Type } from 'typebox'
import { Body, Id, Listed, OptionalId, OptionalText, Text, Timestamp } from '../../http/fields.ts'

const appointment_statuses = ['requested', 'scheduled', 'cancelled', 'declined'] as const
export type AppointmentStatus = (typeof appointment_statuses)[number]
export const Status = (options: object = {}) =>
  Type.Unsafe<AppointmentStatus>({ type: 'string', enum: appointment_statuses, ...options })

const start_at = '2026-11-25T10:00:00.000Z'
const end_at = '2026-11-25T10:30:00.000Z'
const texts = {
  type: OptionalText(64, { examples: ['demo'] }),
  location: OptionalText(255, { examples: ['Video call'] }),
  notes: OptionalText(65_535),
}
const references = {
  contact_id: OptionalId({ examples: [3] }),
  booking_page_id: OptionalId({
    description: 'Two scheduled or requested appointments of one booking page never overlap.',
    examples: [2],
  }),
}

/** The detail view of an appointment, which its events carry. */
export const Appointment = Type.Object(
  {
    id: Id({ examples: [5] }),
    title: Text(255, { examples: ['Product demo'] }),
    type: texts.type,
    start_at: Timestamp({ examples: [start_at] }),
    end_at: Timestamp({ examples: [end_at] }),
    ...references,
    location: texts.location,
    notes: texts.notes,
    status: Status({
      description:
        'requested: a visitor asked for it, and it waits for an answer. declined: it was a request that nobody accepted.',
    }),
    cancel_reason: OptionalText(255, {
      description: 'Null unless a reason was given on cancelling or declining.',
    }),
    created_at: Timestamp(),
    updated_at: Timestamp(),
  },
  { title: 'Appointment' },
)
export type Appointment = Static<typeof Appointment>

/** The list view: the same, but for long notes. */
export const ListedAppointment = Type.Object(
  { ...Appointment.properties, notes: Listed(Appointment.properties.notes) },
  { title: 'ListedAppointment' },
)
export type ListedAppointment = Static<typeof ListedAppointment>

/** What a person may change; everything else of the detail view is read-only. */
export const appointment_fields = [
  'title',
  'type',
  'start_at',
  'end_at',
  'contact_id',
  'booking_page_id',
  'location',
  'notes',
] as const
export type AppointmentFields = Pick<Appointment, (typeof appointment_fields)[number]>

const read_only = Object.keys(Appointment.properties)
// The least length makes a null the problem "required".
const fields = {
  title: Text(255, { examples: ['Product demo'] }),
  type: texts.type,
  start_at: Timestamp({ minLength: 1, examples: [start_at] }),
  end_at: Timestamp({ minLength: 1, description: 'After start_at.', examples: [end_at] }),
  ...references,
  location: texts.location,
  notes: texts.notes,
}
export const AppointmentCreate = Body(fields, read_only, ['title', 'start_at', 'end_at'])
export const AppointmentUpdate = Body(fields, read_only)
// What could be meant for the appointment itself is unknown here, not ignored: it must not vanish.
const ignored = ['id', 'status', 'created_at', 'updated_at']
export const Cancellation = Body({ reason: OptionalText(255, { examples: ['Customer is ill'] }) }, ignored)
