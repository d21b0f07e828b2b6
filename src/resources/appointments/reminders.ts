import { type Clock, isoTime } from '../../clock.ts'
import { oneByOne } from '../../db/batches.ts'
import type { Db, Tx } from '../../db/db.ts'
import { newId } from '../../db/ids.ts'
import { lockRow, rowLock } from '../../db/locks.ts'
import { type Context, contextOf, service } from '../../events/context.ts'
import { reminderMail } from '../../mails/booking-messages.ts'
import { countMail, strangerLimits } from '../../mails/limits.ts'
import { mailingOf } from '../../mails/mailing.ts'
import { writeMail } from '../../mails/outbox.ts'
import { hasStopped, visitorHash } from '../../mails/unsubscribing.ts'
import { publicNames } from '../booking-pages/queries.ts'
import { findPage, findVisitor, type Page, pageLimits, visitorReading } from './booking-mails.ts'
import { type Booking, wasVisited } from './bookings.ts'
import { appointmentRecords } from './operations.ts'
import type { Appointment } from './schema.ts'

// A change of a booking or of its page has it looked at anew: remind_at is then the time of the change. Only reminders that are
// due from there on are written. Each is kept until the start, so no second one has the same start and minutes.

type Key = { workspace_id: number; id: number }

/** Writes the reminders that are due, those of each booking in a transaction of its own. */
export const writeReminders = (db: Db, clock: Clock, stopping?: AbortSignal): Promise<void> =>
  oneByOne(
    db,
    stopping,
    (limit) =>
      db
        .selectFrom('bookings')
        .select(['workspace_id', 'appointment_id as id'])
        .where('remind_at', '<=', isoTime(clock.now()))
        .orderBy('remind_at')
        .limit(limit)
        .execute(),
    (tx, key) => remind(tx, clock, key),
  )

async function remind(tx: Tx, clock: Clock, key: Key): Promise<void> {
  const { workspace_id, id } = key
  // The order of a change of the booking: the appointment first.
  await lockRow(tx, 'appointments', workspace_id, id)
  const booking = await tx
    .selectFrom('bookings')
    .selectAll()
    .where((eb) => eb.and({ workspace_id, appointment_id: id }))
    .modifyEnd(rowLock(tx, 'FOR NO KEY UPDATE'))
    .executeTakeFirst()
  const context = contextOf(clock, { workspace_id, actor: service, request_id: null })
  const { now } = context
  const since = booking?.remind_at ?? null
  // Another process was first.
  if (!booking || since === null || since > now) return
  const appointment = await appointmentRecords.find(tx, workspace_id, id)
  const is_awaited =
    appointment?.status === 'scheduled' && appointment.start_at > now && (await wasVisited(tx, key))
  const page = is_awaited ? await findPage(tx, workspace_id, appointment.booking_page_id) : undefined
  const made = (JSON.parse(booking.reminded) as Reminder[]).filter(({ start_at }) => start_at > now)
  const times = appointment && page ? timesOf(appointment, page) : []
  for (const { at, reminder } of times) {
    const is_made = made.some((one) => one.start_at === reminder.start_at && one.minutes === reminder.minutes)
    if (at < since || at > now || is_made) continue
    made.push(reminder)
    if (appointment && page) await mailReminder(tx, context, booking, appointment, page)
  }
  const [next = null] = times.map(({ at }) => at).filter((at) => at > now)
  await tx
    .updateTable('bookings')
    .set({ remind_at: next, reminded: JSON.stringify(made) })
    .where((eb) => eb.and({ workspace_id, appointment_id: id }))
    .execute()
}

type Reminder = Pick<Appointment, 'start_at'> & { minutes: number }

/** The reminders of an appointment, in the order of their times. */
const timesOf = (
  { start_at }: Appointment,
  { reminders_minutes }: Page,
): { at: string; reminder: Reminder }[] =>
  (JSON.parse(reminders_minutes) as number[])
    .sort((a, b) => b - a)
    .map((minutes) => ({
      at: isoTime(Date.parse(start_at) - minutes * 60_000),
      reminder: { start_at, minutes },
    }))

async function mailReminder(
  tx: Tx,
  context: Context,
  booking: Booking,
  appointment: Appointment,
  page: Page,
): Promise<void> {
  const { workspace_id } = context
  const mailing = mailingOf(tx)
  const visitor = await findVisitor(tx, workspace_id, appointment.contact_id)
  if (!mailing || !visitor?.email) return
  const recipient = visitor.email
  const address_hash = visitorHash(mailing, workspace_id, recipient)
  if (await hasStopped(tx, { workspace_id, address_hash })) return
  const whom = await publicNames(tx, workspace_id, appointment.host_ids)
  const { reader, token, path } = visitorReading(mailing, booking, page)
  const limits = [...strangerLimits(mailing, { recipient }), ...pageLimits(context, page)]
  const is_limited = (await countMail(tx, limits, context.elapsed(), newId('clm'))) > 0
  writeMail(tx, context, {
    kind: 'booking_reminder',
    recipient,
    contact_id: visitor.id,
    record: { kind: 'appointments', id: appointment.id },
    language: reader.language,
    content: (base) => reminderMail(reader, base, { appointment, whom, link: path && base + path }),
    unsubscribe: { workspace_id, address_hash },
    ...(token !== null && { tokens: [token], tokens_until: appointment.end_at }),
    useless_at: appointment.start_at,
    ...(is_limited && { not_sent: 'limit' as const }),
  })
}
