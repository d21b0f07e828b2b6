import type { Static } from 'typebox'
import type { Tx } from '../../db/db.ts'
import { conflict, type FieldProblem, refuse } from '../../errors.ts'
import { recordChange } from '../../events/audit.ts'
import type { Context } from '../../events/context.ts'
import type { Links } from '../../events/define.ts'
import { emit } from '../../events/emit.ts'
import { lockCalendars } from '../booking-pages/hosts.ts'
import { changedValues, newValues, valueProblems } from '../writing/input.ts'
import {
  addRecord,
  type Change,
  type Create,
  lockRecord,
  moveFromTrash,
  moveToTrash,
  type Remove,
  type Restore,
  saveChanges,
  verbOf,
} from '../writing/operations.ts'
import { recordsOf } from '../writing/records.ts'
import { firstKind, hostsOf, mailBooking } from './booking-mails.ts'
import { countBookingChange, eventLinks, wasVisited } from './bookings.ts'
import { clockAt, findClockChange, zoneOfFields } from './clocks.ts'
import { appointmentCancelled, appointmentCreated, appointmentUpdated } from './events.ts'
import { guestProblems, lockGuest, replaceGuest, saveGuests, sortGuests } from './guests.ts'
import {
  holdForRestore,
  hostsOfArchived,
  hostsOfChange,
  hostsOfNew,
  lockForChange,
  type Received,
} from './hosting.ts'
import { lapsesAt } from './requests.ts'
import { appointments } from './resource.ts'
import type {
  Appointment,
  AppointmentArchived,
  AppointmentBody,
  AppointmentFields,
  Cancellation,
} from './schema.ts'

export const appointmentRecords = recordsOf<Appointment, AppointmentFields>(appointments)

/** Whether clients know of it: a request has no event until it is accepted. */
const isBooked = ({ status }: Appointment) => status === 'scheduled' || status === 'cancelled'

/** A live appointment, locked for a change in this transaction. */
export const lockAppointment = (tx: Tx, context: Context, id: number): Promise<Appointment> =>
  lockRecord(tx, context, appointmentRecords, id)

/** Adds an appointment from a body. 409 when the time is taken on the booking page, or its hosts are busy. */
export const createAppointment: Create<Appointment, AppointmentBody> = (tx, context, body, problems) =>
  createWith(tx, context, body, problems)

/**
 * Adds an appointment of an archive in its status. A cancelled or declined one takes no time of its page. The owner receives the
 * visitor.
 */
export const createArchived: Create<Appointment, ArchivedBody> = (
  tx,
  context,
  { status = 'scheduled', cancel_reason = null, ...body },
  problems,
) => createWith(tx, context, body, problems, { status, cancel_reason })

type ArchivedBody = Static<typeof AppointmentArchived>

async function createWith(
  tx: Tx,
  context: Context,
  body: AppointmentBody,
  problems: readonly FieldProblem[],
  archived?: Pick<Appointment, 'status' | 'cancel_reason'>,
): Promise<Appointment> {
  const { workspace_id } = context
  const values = newValues(appointments, sortGuests(body), problems) as AppointmentFields
  const { owner_id = null, booking_page_id } = values
  const author = context.actor.kind === 'person' ? context.actor.id : null
  if (!problems.length)
    await lockCalendars(tx, workspace_id, { pages: [booking_page_id], people: [owner_id ?? author] })
  const wrong = [...problems, ...timeProblems(values, problems)]
  const known = { problems: wrong, before: null }
  const [found, no_guests, zone] = await Promise.all([
    valueProblems(tx, context, appointments, values, known),
    guestProblems(tx, workspace_id, body, null, problems),
    zoneOfFields(tx, context, values),
  ])
  refuse([...wrong, ...found, ...no_guests])
  const received = archived
    ? await hostsOfArchived(tx, context, values)
    : await hostsOfNew(tx, context, values)
  return addAppointment(tx, context, values, zone, { ...archived, ...received })
}

/**
 * Adds an appointment whose values are checked and whose calendars are locked: appointment.created, if it is
 * scheduled. `zone` is that of its wall clock. `link_hash` is the SHA-256 of the private link's token; `links` are for the event.
 */
export async function addAppointment(
  tx: Tx,
  context: Context,
  values: AppointmentFields,
  zone: string | null,
  {
    status = 'scheduled',
    cancel_reason = null,
    link_hash = null,
    links = {},
    host_ids = [],
    owner_id = values.owner_id,
  }: Partial<Pick<Appointment, 'status' | 'cancel_reason'>> &
    Received & {
      link_hash?: string | null
      links?: Partial<Links>
    } = {},
): Promise<Appointment> {
  const fields = { ...values, owner_id }
  const appointment = await addRecord(tx, context, appointmentRecords, fields, {
    status,
    cancel_reason,
    link_hash,
    host_ids,
    ...clockAt(zone, values.start_at),
  })
  await saveGuests(tx, context, appointment.id, [], values.guest_ids)
  if (isBooked(appointment)) await emit(tx, context, appointmentCreated, appointment, links)
  return appointment
}

/** Changes an appointment. 409 when the new time is taken on the booking page, or its hosts are busy. */
export const changeAppointment: Change<Appointment, AppointmentBody> = async (
  tx,
  context,
  id,
  body,
  { problems, expect },
) => {
  const { workspace_id } = context
  const before = await lockRecord(tx, context, appointmentRecords, id, expect)
  const values = changedValues(appointments, sortGuests(body), before, problems) as Partial<AppointmentFields>
  if (!problems.length) await lockForChange(tx, workspace_id, before, values)
  const wrong = [...problems, ...timeProblems({ ...before, ...values }, problems)]
  const known = { problems: wrong, before }
  const [found, no_guests, zone] = await Promise.all([
    valueProblems(tx, context, appointments, values, known),
    guestProblems(tx, workspace_id, body, before, problems),
    'start_at' in values ? zoneOfFields(tx, context, { ...before, ...values }) : null,
  ])
  refuse([...wrong, ...found, ...no_guests])
  if (values.guest_ids) await saveGuests(tx, context, id, before.guest_ids, values.guest_ids)
  return saveAppointment(tx, context, before, values, zone)
}

/**
 * Gives the row of a guest to another contact: for a merge, or its undo. No event for an appointment in the trash. `owner` has
 * the times of the change of the appointment.
 */
export async function giveGuest(tx: Tx, context: Context, id: number, contact_id: number) {
  const { workspace_id, now: updated_at } = context
  const { appointment_id, contact_id: old } = await lockGuest(tx, workspace_id, id)
  const before = await appointmentRecords.find(tx, workspace_id, appointment_id)
  await replaceGuest(tx, context, id, contact_id)
  if (!before) return { updated_at }
  const guest_ids = before.guest_ids.map((guest) => (guest === old ? contact_id : guest))
  const after = await saveAppointment(tx, context, before, { guest_ids }, null)
  return {
    updated_at,
    owner: { record_id: appointment_id, before: before.updated_at, after: after.updated_at },
  }
}

/**
 * Saves checked values of a locked appointment: appointment.updated, if it is booked. First lock its calendars. A new
 * start is by the wall clock of `zone`. 409 if its hosts are busy, or have an appointment within the buffer.
 */
export async function saveAppointment(
  tx: Tx,
  context: Context,
  before: Appointment,
  values: Partial<AppointmentFields>,
  zone: string | null,
  buffer_minutes = 0,
): Promise<Appointment> {
  const { start_at } = values
  const { owner_id, host_ids } = await hostsOfChange(tx, context, before, values, buffer_minutes)
  const fields = { ...values, ...(owner_id !== undefined && owner_id !== before.owner_id && { owner_id }) }
  const set = { ...(start_at !== undefined && clockAt(zone, start_at)), ...(host_ids && { host_ids }) }
  const { after, changes } = await saveChanges(tx, context, appointmentRecords, before, fields, { set })
  if (changes && isBooked(after))
    await emit(tx, context, appointmentUpdated, after, {
      ...changes,
      ...(await eventLinks(tx, context, after)),
    })
  if (changes) await mailChange(tx, context, before, after, changes.changed_fields)
  return after
}

/** The fields whose change concerns a visitor. */
const mailed_fields: readonly string[] = ['start_at', 'end_at', 'location']

/** Mails a change of time, place or hosts. Of hosts alone, the visitor and the hosts who stay get no mail. */
async function mailChange(
  tx: Tx,
  context: Context,
  old: Appointment,
  appointment: Appointment,
  changed_fields: readonly string[],
): Promise<void> {
  const { id, status } = appointment
  if (status !== 'scheduled' && status !== 'requested') return
  const [old_hosts, hosts] = [hostsOf(old), hostsOf(appointment)]
  const added = hosts.filter((host) => !old_hosts.includes(host))
  const replaced = old_hosts.filter((host) => !hosts.includes(host))
  if (changed_fields.some((field) => mailed_fields.includes(field))) {
    const has_time = old.start_at !== appointment.start_at || old.end_at !== appointment.end_at
    const before = has_time ? old : null
    return mailBooking(tx, context, { kind: 'booking_moved', appointment, before, added, replaced })
  }
  if (!added.length && !replaced.length) return
  if (!(await wasVisited(tx, { workspace_id: context.workspace_id, id }))) return
  await mailBooking(tx, context, { kind: firstKind(appointment), appointment, only: added, replaced })
}

type Times = Pick<AppointmentFields, 'start_at' | 'end_at'>

/** An appointment ends after it starts. Times that the schema refused are not compared. */
function timeProblems({ start_at, end_at }: Times, problems: readonly FieldProblem[]): FieldProblem[] {
  const refused = problems.some(({ field }) => field === 'start_at' || field === 'end_at')
  if (refused || end_at > start_at) return []
  return [{ field: 'end_at', code: 'before_start', message: 'end_at must be after start_at.' }]
}

/**
 * Accepts a request: it is scheduled, with appointment.created. A scheduled appointment stays as it is. 409 for a
 * cancelled or declined appointment, and for a request that has lapsed.
 */
export const acceptRequest = verbOf(appointmentRecords, async (tx, context, before) => {
  const { status } = before
  if (status === 'scheduled') return before
  if (status !== 'requested')
    throw conflict('appointment_answered', `The appointment is ${status}. Create another one.`)
  if (lapsesAt(before) <= context.now_ms)
    throw conflict('request_lapsed', 'The request has lapsed. Create an appointment.')
  return changeStatus(tx, context, before, { status: 'scheduled', cancel_reason: null })
})

/**
 * Declines a locked request, without an event. A declined one stays as it is; 409 for an appointment that is not a
 * request.
 */
export async function declineLocked(
  tx: Tx,
  context: Context,
  before: Appointment,
  { reason = null }: Static<typeof Cancellation>,
): Promise<Appointment> {
  const { status } = before
  if (status === 'declined') return before
  if (status !== 'requested')
    throw conflict('appointment_answered', `The appointment is ${status}: only a request can be declined.`)
  return changeStatus(tx, context, before, { status: 'declined', cancel_reason: reason })
}

/**
 * Cancels a locked appointment: appointment.cancelled. A request is declined. A cancelled or declined appointment stays as
 * it is, and keeps its reason.
 */
export async function cancelLocked(
  tx: Tx,
  context: Context,
  before: Appointment,
  cancellation: Static<typeof Cancellation>,
): Promise<Appointment> {
  const { status } = before
  if (status === 'requested') return declineLocked(tx, context, before, cancellation)
  if (status !== 'scheduled') return before
  const { reason = null } = cancellation
  return changeStatus(tx, context, before, { status: 'cancelled', cancel_reason: reason })
}

/** Moves an appointment whose zone has new rules, so that its wall clock shows the agreed time again. 409 when that is taken. */
export const keepWallClock = verbOf(appointmentRecords, async (tx, context, before) => {
  const { workspace_id } = context
  // The times are known under the lock only.
  await lockForChange(tx, workspace_id, before, before)
  const change = await findClockChange(tx, context, before.id)
  if (!change) return before
  const { time_zone, kept_start_at: start_at, kept_end_at: end_at } = change
  return saveAppointment(tx, context, before, { start_at, end_at }, time_zone)
})

/** Keeps the time of an appointment whose zone has new rules: its wall clock shows the agreed time no longer. No event. */
export const keepTime = verbOf(appointmentRecords, async (tx, context, before) => {
  const change = await findClockChange(tx, context, before.id)
  if (!change) return before
  const set = clockAt(change.time_zone, before.start_at)
  const [old, current] = [change, set].map(({ utc_offset_minutes }) => ({ utc_offset_minutes }))
  const changed = { action: 'time_kept', kind: 'appointments', record_id: before.id }
  recordChange(tx, context, { ...changed, before: old, after: current })
  return (await saveChanges(tx, context, appointmentRecords, before, {}, { set, touch: false })).after
})

export const declineRequest = verbOf(appointmentRecords, declineLocked)
export const cancelAppointment = verbOf(appointmentRecords, cancelLocked)

// A declined request has no event, as its creation had none.
const outcomes = {
  scheduled: { action: 'accepted', event: appointmentCreated, kind: 'booking_confirmed' },
  cancelled: { action: 'cancelled', event: appointmentCancelled, kind: 'booking_cancelled' },
  declined: { action: 'declined', event: null, kind: 'booking_declined' },
} as const

async function changeStatus(
  tx: Tx,
  context: Context,
  before: Appointment,
  set: { status: keyof typeof outcomes; cancel_reason: string | null },
): Promise<Appointment> {
  const { action, event, kind } = outcomes[set.status]
  const { after } = await saveChanges(tx, context, appointmentRecords, before, {}, { action, set })
  if (event) await emit(tx, context, event, after, await eventLinks(tx, context, after))
  await mailBooking(tx, context, { kind, appointment: after })
  return after
}

/** Moves an appointment to the trash. A scheduled one is cancelled for its listeners: appointment.cancelled. */
export const deleteAppointment: Remove<Appointment> = async (tx, context, id, expect) => {
  const before = await moveToTrash(tx, context, appointmentRecords, id, expect)
  if (before.status === 'scheduled') {
    const cancelled = { ...before, status: 'cancelled' as const }
    await emit(tx, context, appointmentCancelled, cancelled, await eventLinks(tx, context, cancelled))
  }
  if (before.status === 'scheduled' || before.status === 'requested')
    await mailBooking(tx, context, { kind: 'booking_cancelled', appointment: before })
  return before
}

/** Brings an appointment back from the trash: appointment.updated, if it was ever booked. 409 when its time is taken. */
export const restoreAppointment: Restore<Appointment> = async (tx, context, id, sent) => {
  const { record, changes } = await moveFromTrash(tx, context, appointmentRecords, id, sent, holdForRestore)
  if (changes && isBooked(record))
    await emit(tx, context, appointmentUpdated, record, {
      ...changes,
      ...(await eventLinks(tx, context, record)),
    })
  if (changes) await countBookingChange(tx, context, id)
  return record
}
