import type { Static } from 'typebox'
import type { Tx } from '../../db/db.ts'
import { lockRow } from '../../db/locks.ts'
import { conflict, type FieldProblem, refuse } from '../../errors.ts'
import { recordChange } from '../../events/audit.ts'
import type { Context } from '../../events/context.ts'
import { emit } from '../../events/emit.ts'
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
import { mailBooking } from './booking-mails.ts'
import { clockAt, findClockChange, zoneOfFields } from './clocks.ts'
import { appointmentCancelled, appointmentCreated, appointmentUpdated } from './events.ts'
import { findStoredPage } from './queries.ts'
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

/**
 * Locks the times of a booking page until the transaction ends. Other bookings of the page wait, and then see this one.
 * The database refuses an overlap without this lock, too. But concurrent bookings of one time would wait for each
 * other's uncommitted rows, and PostgreSQL would end them as deadlocks. Take this lock after the lock of an
 * appointment, and before any other read of the page. The check of a reference takes a shared lock of the row. Two
 * holders of a shared lock would deadlock.
 */
export async function lockTimes(tx: Tx, workspace_id: number, booking_page_id: number | null): Promise<void> {
  if (booking_page_id !== null) await lockRow(tx, 'booking_pages', workspace_id, booking_page_id)
}

/** Adds an appointment from a body. 409 when the time is taken on the booking page. */
export const createAppointment: Create<Appointment, AppointmentBody> = (tx, context, body, problems) =>
  createWith(tx, context, body, problems)

/** Adds an appointment of an archive in its status. A cancelled or declined one takes no time of its page. */
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
  set?: Partial<Pick<Appointment, 'status' | 'cancel_reason'>>,
): Promise<Appointment> {
  const { workspace_id } = context
  const values = newValues(appointments, body, problems) as AppointmentFields
  if (!problems.length) await lockTimes(tx, workspace_id, values.booking_page_id)
  const wrong = [...problems, ...timeProblems(values, problems)]
  const known = { problems: wrong, before: null }
  const [found, zone] = await Promise.all([
    valueProblems(tx, context, appointments, values, known),
    zoneOfFields(tx, context, values),
  ])
  refuse([...wrong, ...found])
  return addAppointment(tx, context, values, zone, set)
}

/**
 * Adds an appointment whose values are checked and whose page's times are locked: appointment.created, if it is
 * scheduled. `zone` is that of its wall clock. `link_hash` is the SHA-256 of the private link's token.
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
  }: Partial<Pick<Appointment, 'status' | 'cancel_reason'>> & { link_hash?: string | null } = {},
): Promise<Appointment> {
  const appointment = await addRecord(tx, context, appointmentRecords, values, {
    status,
    cancel_reason,
    link_hash,
    ...clockAt(zone, values.start_at),
  })
  if (isBooked(appointment)) await emit(tx, context, appointmentCreated, appointment)
  return appointment
}

/** Changes an appointment. 409 when the new time is taken on the booking page. */
export const changeAppointment: Change<Appointment, AppointmentBody> = async (
  tx,
  context,
  id,
  body,
  { problems, expect },
) => {
  const { workspace_id } = context
  const before = await lockRecord(tx, context, appointmentRecords, id, expect)
  const values = changedValues(appointments, body, before, problems) as Partial<AppointmentFields>
  if (!problems.length) await lockTimesToChange(tx, workspace_id, id, values)
  const wrong = [...problems, ...timeProblems({ ...before, ...values }, problems)]
  const known = { problems: wrong, before }
  const [found, zone] = await Promise.all([
    valueProblems(tx, context, appointments, values, known),
    'start_at' in values ? zoneOfFields(tx, context, { ...before, ...values }) : null,
  ])
  refuse([...wrong, ...found])
  return saveAppointment(tx, context, before, values, zone)
}

/**
 * Saves checked values of a locked appointment: appointment.updated, if it is booked. First lock the page's times. A new
 * start is by the wall clock of `zone`.
 */
export async function saveAppointment(
  tx: Tx,
  context: Context,
  before: Appointment,
  values: Partial<AppointmentFields>,
  zone: string | null,
): Promise<Appointment> {
  const { start_at } = values
  const set = start_at === undefined ? {} : clockAt(zone, start_at)
  const { after, changes } = await saveChanges(tx, context, appointmentRecords, before, values, { set })
  if (changes && isBooked(after)) await emit(tx, context, appointmentUpdated, after, changes)
  if (changes?.changed_fields.some((field) => mailed_fields.includes(field)))
    await mailMoved(tx, context, before, after)
  return after
}

/** The fields whose change concerns a visitor. */
const mailed_fields: readonly string[] = ['start_at', 'end_at', 'location']

async function mailMoved(
  tx: Tx,
  context: Context,
  old: Appointment,
  appointment: Appointment,
): Promise<void> {
  const { status } = appointment
  if (status !== 'scheduled' && status !== 'requested') return
  const has_time = old.start_at !== appointment.start_at || old.end_at !== appointment.end_at
  await mailBooking(tx, context, { kind: 'booking_moved', appointment, before: has_time ? old : null })
}

// A change of the page locks both pages, in the order of their ids. So two changes cannot deadlock.
async function lockTimesToChange(
  tx: Tx,
  workspace_id: number,
  id: number,
  { start_at, end_at, booking_page_id }: Partial<AppointmentFields>,
): Promise<void> {
  if (start_at === undefined && end_at === undefined && booking_page_id === undefined) return
  const pages = new Set([await findStoredPage(tx, workspace_id, id), booking_page_id ?? null])
  for (const page of [...pages].sort((a, b) => Number(a) - Number(b))) await lockTimes(tx, workspace_id, page)
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
  await lockTimes(tx, workspace_id, await findStoredPage(tx, workspace_id, before.id))
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
  if (event) await emit(tx, context, event, after)
  await mailBooking(tx, context, { kind, appointment: after })
  return after
}

/** Moves an appointment to the trash. A scheduled one is cancelled for its listeners: appointment.cancelled. */
export const deleteAppointment: Remove<Appointment> = async (tx, context, id, expect) => {
  const before = await moveToTrash(tx, context, appointmentRecords, id, expect)
  if (before.status === 'scheduled')
    await emit(tx, context, appointmentCancelled, { ...before, status: 'cancelled' })
  if (before.status === 'scheduled' || before.status === 'requested')
    await mailBooking(tx, context, { kind: 'booking_cancelled', appointment: before })
  return before
}

/** Brings an appointment back from the trash: appointment.updated, if it was ever booked. 409 when its time is taken. */
export const restoreAppointment: Restore<Appointment> = async (tx, context, id, sent) => {
  const lockPage = async (tx: Tx, workspace_id: number, id: number) =>
    lockTimes(tx, workspace_id, await findStoredPage(tx, workspace_id, id))
  const { record, changes } = await moveFromTrash(tx, context, appointmentRecords, id, sent, lockPage)
  if (changes && isBooked(record)) await emit(tx, context, appointmentUpdated, record, changes)
  return record
}
