import type { Db } from '../db/db.ts'
import { lockRow } from '../db/locks.ts'
import { factsOf, recordChange, sidesOf } from '../events/audit.ts'
import { changesBetween } from '../events/changes.ts'
import type { Context } from '../events/context.ts'
import { emit } from '../events/emit.ts'
import { orNotFound } from '../http/records.ts'
import { appointmentCancelled, appointmentCreated, appointmentUpdated } from './events.ts'
import {
  findAppointment,
  insertAppointment,
  type NewAppointment,
  storedPage,
  updateAppointment,
} from './queries.ts'
import { type Appointment, type AppointmentFields, appointment_fields } from './schema.ts'

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

/** Adds a scheduled appointment: appointment.created. First hold the page's times. A time that is taken is a 409. */
export async function createAppointment(
  tx: Db,
  context: Context,
  values: NewAppointment,
): Promise<Appointment> {
  const id = await insertAppointment(tx, context, values)
  const shown = await existing(tx, context.workspace_id, id)
  await emit(tx, context, appointmentCreated, shown)
  await recordChange(tx, context, {
    ...{ action: 'created', kind: 'appointments', record_id: id },
    after: factsOf(shown),
  })
  return shown
}

/**
 * Saves changed fields, as appointment.updated. Before moving it, hold the times of the page it will be on. A time that is
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
  await emit(tx, context, appointmentUpdated, after, told)
  await recordChange(tx, context, {
    ...{ action: 'updated', kind: 'appointments', record_id: before.id },
    ...sidesOf(told, after),
  })
  return after
}

/** Cancels an appointment: appointment.cancelled. One that is cancelled already stays as it is, its reason too. */
export async function cancelAppointment(
  tx: Db,
  context: Context,
  before: Appointment,
  reason: string | null,
): Promise<Appointment> {
  if (before.status === 'cancelled') return before
  const cancelled = { status: 'cancelled', cancel_reason: reason } as const
  await updateAppointment(tx, context, before.id, cancelled)
  const after = await existing(tx, context.workspace_id, before.id)
  await emit(tx, context, appointmentCancelled, after)
  const told = changesBetween(before, after, ['status', 'cancel_reason'])
  await recordChange(tx, context, {
    ...{ action: 'cancelled', kind: 'appointments', record_id: before.id },
    ...(told && sidesOf(told, after)),
  })
  return after
}

/** Tells that a scheduled appointment went to the trash: to whoever waits for it, it is cancelled. */
export async function tellDeleted(tx: Db, context: Context, record: object): Promise<void> {
  const { status } = record as Appointment
  if (status === 'scheduled')
    await emit(tx, context, appointmentCancelled, { ...record, status: 'cancelled' })
}
