import { hash } from 'node:crypto'
import { sql } from 'kysely'
import { batch } from '../../db/batches.ts'
import type { Db, Tx } from '../../db/db.ts'
import { prepare } from '../../db/statements/prepare.ts'
import type { Context } from '../../events/context.ts'
import { mailingOf } from '../../mails/mailing.ts'

/** An appointment that a visitor made on a booking page, as mails and calendar files need it. */
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
  { workspace_id }: Context,
  appointment_id: number,
  { token, language, time_zone }: { token: string; language: string; time_zone: string },
): Promise<void> {
  const sealed = mailingOf(tx)?.seal.seal(token) ?? null
  await tx
    .insertInto('bookings')
    .values({ workspace_id, appointment_id, uid: uidOfToken(token), token: sealed, language, time_zone })
    .execute()
}

const grow = prepare(
  (
    p: Key & { uid: string },
  ) => sql<Booking>`UPDATE bookings SET sequence = sequence + 1, uid = coalesce(uid, ${p.uid})
    WHERE workspace_id = ${p.workspace_id} AND appointment_id = ${p.id} RETURNING ${columns}`,
)

/** Counts a change of an appointment. Returns its booking; null for an appointment that no visitor made. */
export const countBookingChange = async (tx: Tx, workspace_id: number, id: number): Promise<Booking | null> =>
  (await grow(tx, { workspace_id, id, uid: uidOfToken(`${workspace_id} ${id}`) }))[0] ?? null

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
