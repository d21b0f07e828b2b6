import { hash } from 'node:crypto'
import { sql } from 'kysely'
import { batch } from '../../db/batches.ts'
import type { Db, Tx } from '../../db/db.ts'
import { prepare } from '../../db/statements/prepare.ts'
import type { Context } from '../../events/context.ts'
import type { Links } from '../../events/define.ts'
import { mailingOf } from '../../mails/mailing.ts'
import type { Appointment } from './schema.ts'

/**
 * An appointment as mails and calendar files need it: one that a visitor made on a booking page, or one that members made, after
 * its first change.
 */
export type Booking = {
  uid: string | null
  /** Grows with each change of time, place or status. */
  sequence: number
  /** The token of the private link, encrypted; null after the appointment, and for bookings of earlier versions. */
  token: string | null
  /** The language and the zone in which the visitor booked. */
  language: string | null
  time_zone: string | null
}

/** The uid of an appointment without a token. */
export const uidOfAppointment = (workspace_id: number, id: number): string =>
  uidOfToken(`${workspace_id} ${id}`)

type Key = { workspace_id: number; id: number }

/** The uid of calendar files. It follows from the token of the link, and does not reveal it. */
export const uidOfToken = (token: string): string =>
  `${hash('sha256', `calendar ${token}`).slice(0, 32)}@rapport`

const columns = sql`uid, sequence, token, language, time_zone`
const byId = prepare(
  (p: Key) => sql<Booking>`SELECT ${columns} FROM bookings
    WHERE workspace_id = ${p.workspace_id} AND appointment_id = ${p.id}`,
)
export const findBooking = async (db: Db, workspace_id: number, id: number): Promise<Booking | null> =>
  (await byId(db, { workspace_id, id }))[0] ?? null

/** Adds a booking, with its link sealed. */
export async function addBookingRow(
  tx: Tx,
  { workspace_id, now }: Context,
  appointment_id: number,
  { token, language, time_zone }: { token: string; language: string; time_zone: string },
): Promise<void> {
  const sealed = mailingOf(tx)?.seal.seal(token) ?? null
  await tx
    .insertInto('bookings')
    .values({
      workspace_id,
      appointment_id,
      uid: uidOfToken(token),
      token: sealed,
      language,
      time_zone,
      remind_at: now,
    })
    .execute()
}

// Its reminders are looked at soon. A due reminder stays due.
const looked = (now: string) =>
  sql`CASE WHEN bookings.remind_at < ${now} THEN bookings.remind_at ELSE ${now} END`
const grow = prepare(
  (
    p: Key & { uid: string; now: string },
  ) => sql<Booking>`INSERT INTO bookings (workspace_id, appointment_id, uid, sequence)
    VALUES (${p.workspace_id}, ${p.id}, ${p.uid}, 1)
    ON CONFLICT (workspace_id, appointment_id)
      DO UPDATE SET sequence = bookings.sequence + 1, uid = coalesce(bookings.uid, excluded.uid),
        remind_at = ${looked(p.now)}
    RETURNING ${columns}`,
)
const booked = prepare(
  (p: Key) => sql<{ id: number }>`SELECT id FROM appointments
    WHERE workspace_id = ${p.workspace_id} AND id = ${p.id} AND link_hash IS NOT NULL`,
)

/** Whether a visitor made an appointment. */
export const wasVisited = async (tx: Tx, key: Key): Promise<boolean> => (await booked(tx, key)).length > 0

/** Counts a change of an appointment. Returns its booking; null for an appointment that no visitor made. */
export async function countBookingChange(
  tx: Tx,
  { workspace_id, now }: Context,
  id: number,
): Promise<Booking | null> {
  const [[booking], was_visited] = await Promise.all([
    grow(tx, { workspace_id, id, uid: uidOfAppointment(workspace_id, id), now }),
    wasVisited(tx, { workspace_id, id }),
  ])
  return was_visited ? (booking ?? null) : null
}

/** The links of a private link's token. Null without one, and where the address of the service is not known. */
export function linksOf(tx: Tx, slug: string, token: string | null): Links {
  const base = mailingOf(tx)?.base()
  if (base === undefined || token === null) return { cancel_url: null, reschedule_url: null }
  const link = `${base}/book/${encodeURIComponent(slug)}/a/${token}`
  return { cancel_url: `${link}/cancel`, reschedule_url: `${link}/move` }
}

const told = prepare(
  (p: Key) => sql<{ slug: string; token: string | null }>`SELECT p.slug, b.token FROM appointments AS a
    JOIN booking_pages AS p ON p.workspace_id = a.workspace_id AND p.id = a.booking_page_id
    LEFT JOIN bookings AS b ON b.workspace_id = a.workspace_id AND b.appointment_id = a.id
    WHERE a.workspace_id = ${p.workspace_id} AND a.id = ${p.id} AND a.link_hash IS NOT NULL
      AND p.links_in_events = 1`,
)

/** The links of a booking for its events. Empty if its page does not add them, and for an appointment that no visitor made. */
export async function eventLinks(
  tx: Tx,
  { workspace_id }: Context,
  { id, booking_page_id, status }: Pick<Appointment, 'id' | 'booking_page_id' | 'status'>,
): Promise<Partial<Links>> {
  const [found] = booking_page_id === null ? [] : await told(tx, { workspace_id, id })
  if (!found) return {}
  const sealed = status === 'scheduled' ? found.token : null
  return linksOf(tx, found.slug, sealed && (mailingOf(tx)?.seal.open(sealed) ?? null))
}

/** Forgets the links of appointments that have ended, and the bookings of those that were removed; returns how many. */
export async function forgetBookings(tx: Tx, now: string): Promise<number> {
  const { rows } = await sql<{ workspace_id: number; appointment_id: number; is_live: number }>`
    SELECT b.workspace_id, b.appointment_id, CASE WHEN a.id IS NULL THEN 0 ELSE 1 END AS is_live
    FROM bookings AS b LEFT JOIN appointments AS a ON a.workspace_id = b.workspace_id AND a.id = b.appointment_id
    WHERE b.token IS NOT NULL AND (a.id IS NULL OR a.end_at <= ${now}) LIMIT ${batch}`.execute(tx)
  for (const { workspace_id, appointment_id, is_live } of rows) {
    const key = sql`workspace_id = ${workspace_id} AND appointment_id = ${appointment_id}`
    await (is_live
      ? sql`UPDATE bookings SET token = NULL WHERE ${key}`
      : sql`DELETE FROM bookings WHERE ${key}`
    ).execute(tx)
  }
  return rows.length
}
