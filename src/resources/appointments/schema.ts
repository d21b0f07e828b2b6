import { type Static, Type } from 'typebox'
import {
  Body,
  flag,
  Id,
  nullableObject,
  OptionalId,
  OptionalText,
  Text,
  Timestamp,
  Titled,
} from '../../http/fields.ts'
import { bodyOf, dates, defineColumns, detailView, listView, type Values } from '../resource.ts'
import { authors, ContactName, custom_fields, owner, tags } from '../shared-columns.ts'

const appointment_statuses = ['requested', 'scheduled', 'cancelled', 'declined'] as const
type AppointmentStatus = (typeof appointment_statuses)[number]
export const Status = (options: object = {}) =>
  Type.Unsafe<AppointmentStatus>({ type: 'string', enum: appointment_statuses, ...options })

const start_at = ['2026-11-25T10:00:00.000Z']
const end_at = ['2026-11-25T10:30:00.000Z']

/** The guests that an appointment may have, with those that no answer shows. */
export const max_guests = 50

export const columns = defineColumns({
  title: { shown: Text(255, { examples: ['Product demo'] }), required: true, personal: true },
  type: { shown: OptionalText(64, { examples: ['demo'] }), counted: true, personal: true },
  // The minimum length makes a null the problem "required".
  start_at: {
    shown: Timestamp({ examples: start_at }),
    taken: Timestamp({ minLength: 1, examples: start_at }),
    required: true,
    personal: false,
  },
  end_at: {
    shown: Timestamp({ examples: end_at }),
    taken: Timestamp({ minLength: 1, description: 'After start_at.', examples: end_at }),
    required: true,
    personal: false,
  },
  contact_id: { shown: OptionalId({ examples: [3] }), refers_to: 'contacts', counted: true },
  booking_page_id: {
    shown: OptionalId({
      description:
        'Two scheduled or requested appointments of one booking page never overlap, unless their hosts differ.',
      examples: [2],
    }),
    refers_to: 'booking_pages',
    counted: true,
  },
  deal_id: { shown: OptionalId({ examples: [7] }), refers_to: 'deals', counted: true, listed: false },
  location: { shown: OptionalText(255, { examples: ['Video call'] }), personal: true },
  notes: { shown: OptionalText(65_535), listed: { up_to_bytes: 8 * 1024 }, personal: 'visitor' },
  status: {
    shown: Status({
      description:
        'requested: a visitor has requested it, and no member has answered. declined: a request that was not accepted.',
    }),
    taken: false,
    default: 'scheduled',
    counted: true,
    personal: false,
  },
  cancel_reason: {
    shown: OptionalText(255, {
      description: 'The reason of a cancellation or a decline, or null.',
    }),
    taken: false,
    personal: 'visitor',
  },
  ...owner,
  host_ids: {
    shown: Type.Array(Type.String(), {
      description:
        'The hosts who receive the visitor, the owner first. Empty on a booking page without hosts, and without a page.',
      examples: [[]],
    }),
    taken: false,
    listed: false,
    default: [],
    encoding: 'json',
    personal: false,
  },
  guest_ids: {
    shown: Type.Array(Id(), {
      description: `Contacts who also take part, at most ${max_guests}, in the order of their ids. They are for the members: guests get no mail.`,
      examples: [[]],
    }),
    taken: Type.Unsafe<number[] | null>({
      type: ['array', 'null'],
      maxItems: max_guests,
      items: Id(),
      examples: [[4]],
    }),
    listed: false,
    default: [],
    personal: false,
    stored: false,
    ids: {
      table: 'appointment_guests',
      by: 'appointment_id',
      id: 'contact_id',
      refers_to: 'contacts',
    },
  },
  ...tags,
  // A visitor answers the questions of a page there.
  custom_fields: { ...custom_fields.custom_fields, personal: 'visitor' },
  ...authors,
  ...dates,
})

/** The detail view of an appointment, which its events carry. */
export const Appointment = detailView('Appointment', columns, 5)
export type Appointment = Static<typeof Appointment>
/** The list view, without long notes. */
export const ListedAppointment = listView('ListedAppointment', columns, 5)

const contact = nullableObject(ContactName('AppointmentContact'))
/** An appointment in a list: the list view, with the name of its contact if the query asks for it. */
export const AppointmentOfList = Titled(
  'AppointmentOfList',
  { ...ListedAppointment.properties, contact: Type.Optional(contact) },
  { description: 'With `details=true`, it has the name of the contact.' },
)

/** The name of the contact of an appointment. */
export const contact_by_name = defineColumns({
  contact: { shown: contact, embeds: { by: 'contact_id', fields: ['first_name', 'last_name'] } },
})

export const appointment_filters = {
  details: flag('true: each appointment with the name of its contact.'),
}

export type AppointmentFields = Values<typeof columns>

// An appointment of a list with the name of its contact can be sent back, too.
const sent = { ...columns, ...contact_by_name }
export const AppointmentCreate = bodyOf(sent, 'create')
const cancel_reason = OptionalText(255)
/** An appointment of an archive, with its status. */
export const AppointmentArchived = bodyOf(
  {
    ...columns,
    status: { shown: Status(), default: 'scheduled' },
    cancel_reason: { shown: cancel_reason, personal: 'visitor' },
  },
  'create',
)
export const AppointmentUpdate = bodyOf(sent, 'update')
export type AppointmentBody = Static<typeof AppointmentUpdate>
/** An appointment whose wall clock has changed, with the times that keep the wall clock. */
export const ClockChange = Titled('ClockChange', {
  id: Id({ examples: [5] }),
  title: Text(255, { examples: ['Product demo'] }),
  start_at: Timestamp({ examples: ['2026-12-15T15:00:00.000Z'] }),
  end_at: Timestamp({ examples: ['2026-12-15T15:30:00.000Z'] }),
  time_zone: Type.String({ description: 'The zone of its wall clock.', examples: ['America/Winnipeg'] }),
  kept_start_at: Timestamp({
    description: 'The start at which the wall clock shows the agreed time.',
    examples: ['2026-12-15T14:00:00.000Z'],
  }),
  kept_end_at: Timestamp({ examples: ['2026-12-15T14:30:00.000Z'] }),
})
export type ClockChange = Static<typeof ClockChange>

// Refuse the writable fields of an appointment as unknown: `cancel` must not ignore a change.
const ignored = ['id', 'status', 'created_by', 'updated_by', 'created_at', 'updated_at']
export const Cancellation = Body({ reason: OptionalText(255, { examples: ['Customer is ill'] }) }, ignored)
