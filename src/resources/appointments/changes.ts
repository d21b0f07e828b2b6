import type { Db } from '../../db/db.ts'
import { lockRow } from '../../db/locks.ts'
import { factsOf, recordChange, sidesOf } from '../../events/audit.ts'
import { changesBetween } from '../../events/changes.ts'
import type { Context } from '../../events/context.ts'
import type { Changes } from '../../events/define.ts'
import { emit } from '../../events/emit.ts'
import { conflict } from '../../http/errors.ts'
import { orNotFound } from '../../http/records.ts'
import { appointmentCancelled, appointmentCreated, appointmentUpdated } from './events.ts'
import {
  findAppointment,
  insertAppointment,
  type NewAppointment,
  storedPage,
  updateAppointment,
} from './queries.ts'
import { lapsesAt } from './requests.ts'
import { type Appointment, type AppointmentFields, appointment_fields } from './schema.ts'

/** Whether others know of it: a request has no event until somebody accepts it. */
const isBooked = ({ status }: Appointment) => status === 'scheduled' || status === 'cancelled'

const existing = async (db: Db, workspace_id: number, id: number): Promise<Appointment> =>
  orNotFound('appointment', await findAppointment(db, workspace_id, id))

/** A live appointment, kept for a change in this transaction; 404 when there is none. */
export async function appointmentToChange(tx: Db, workspace_id: number, id: number): Promise<Appointment> {
  await lockRow(tx, 'appointments', workspace_id, id)
  return existing(tx, workspace_id, id)
}

/**
 * Keeps the times of a booking page for this transaction: who else wants to book there waits, and then sees what was
 * booked. The database refuses an overlap without this too, but fifty that want one time at once would run into each
 * other's uncommitted rows there, which PostgreSQL ends as deadlocks. It comes before whatever else reads the page in this
 * transaction (a reference's check shares the row, and of two that share it none could go on), and after the lock of an
 * appointment.
 */
export async function holdTimes(tx: Db, workspace_id: number, booking_page_id: number | null): Promise<void> {
  if (booking_page_id !== null) await lockRow(tx, 'booking_pages', workspace_id, booking_page_id)
}

/** The same for the page that an appointment is on, which may be in the trash as the appointment itself may be. */
export async function holdTimesOf(tx: Db, workspace_id: number, id: number): Promise<void> {
  await holdTimes(tx, workspace_id, await storedPage(tx, workspace_id, id))
}

/** Adds an appointment: appointment.created, if it is scheduled. First hold the page's times. A time that is taken is a 409. */
export async function createAppointment(
  tx: Db,
  context: Context,
  values: NewAppointment,
): Promise<Appointment> {
  const id = await insertAppointment(tx, context, values)
  const shown = await existing(tx, context.workspace_id, id)
  if (isBooked(shown)) await emit(tx, context, appointmentCreated, shown)
  await recordChange(tx, context, {
    ...{ action: 'created', kind: 'appointments', record_id: id },
    after: factsOf(shown),
  })
  return shown
}

/**
 * Saves changed fields, as appointment.updated where it is booked. Before moving it, hold the times of the page it will be on. A time that is
 * taken is a 409.
 */
export async function changeAppointment(
  tx: Db,
  context: Context,
  before: Appointment,
  changes: Partial<AppointmentFields>,
): Promise<Appointment> {
  if (!Object.keys(changes).length) return before
  await updateAppointment(tx, context, before.id, changes)
  const after = await existing(tx, context.workspace_id, before.id)
  const told = changesBetween(before, after, appointment_fields)
  if (!told) return after
  if (isBooked(after)) await emit(tx, context, appointmentUpdated, after, told)
  await recordChange(tx, context, {
    ...{ action: 'updated', kind: 'appointments', record_id: before.id },
    ...sidesOf(told, after),
  })
  return after
}

/**
 * Accepts a request: it is scheduled, with appointment.created. A scheduled appointment stays as it is. 409 for one that
 * was cancelled or declined, or whose request has lapsed.
 */
export async function acceptRequest(tx: Db, context: Context, before: Appointment): Promise<Appointment> {
  const { status } = before
  if (status === 'scheduled') return before
  if (status !== 'requested') throw conflict(`The appointment is ${status}. Create another one.`)
  if (lapsesAt(before) <= context.now_ms) throw conflict('The request has lapsed. Create an appointment.')
  return changeStatus(tx, context, before, { status: 'scheduled', cancel_reason: null })
}

/** Declines a request, without an event. A declined one stays as it is; 409 for what is no request. */
export async function declineRequest(
  tx: Db,
  context: Context,
  before: Appointment,
  reason: string | null,
): Promise<Appointment> {
  const { status } = before
  if (status === 'declined') return before
  if (status !== 'requested') throw conflict(`The appointment is ${status}: only a request can be declined.`)
  return changeStatus(tx, context, before, { status: 'declined', cancel_reason: reason })
}

/**
 * Cancels an appointment: appointment.cancelled. A request is declined by it. What is cancelled or declined already stays
 * as it is, its reason too.
 */
export async function cancelAppointment(
  tx: Db,
  context: Context,
  before: Appointment,
  reason: string | null,
): Promise<Appointment> {
  if (before.status === 'requested') return declineRequest(tx, context, before, reason)
  if (before.status !== 'scheduled') return before
  return changeStatus(tx, context, before, { status: 'cancelled', cancel_reason: reason })
}

// A declined request tells no event, as its creation told none.
const outcomes = {
  scheduled: { action: 'accepted', event: appointmentCreated },
  cancelled: { action: 'cancelled', event: appointmentCancelled },
  declined: { action: 'declined', event: null },
}

async function changeStatus(
  tx: Db,
  context: Context,
  before: Appointment,
  change: { status: keyof typeof outcomes; cancel_reason: string | null },
): Promise<Appointment> {
  await updateAppointment(tx, context, before.id, change)
  const after = await existing(tx, context.workspace_id, before.id)
  const { action, event } = outcomes[change.status]
  if (event) await emit(tx, context, event, after)
  const told = changesBetween(before, after, ['status', 'cancel_reason'])
  await recordChange(tx, context, {
    ...{ action, kind: 'appointments', record_id: before.id },
    ...(told && sidesOf(told, after)),
  })
  return after
}

/** Tells that an appointment came back from the trash, if it was ever booked. */
export async function tellRestored(
  tx: Db,
  context: Context,
  record: object,
  changes: Changes,
): Promise<void> {
  if (isBooked(record as Appointment)) await emit(tx, context, appointmentUpdated, record, changes)
}

/** Tells that a scheduled appointment went to the trash: to whoever waits for it, it is cancelled. */
export async function tellDeleted(tx: Db, context: Context, record: object): Promise<void> {
  const { status } = record as Appointment
  if (status === 'scheduled')
    await emit(tx, context, appointmentCancelled, { ...record, status: 'cancelled' })
}
