import { sql } from 'kysely'
import type { Tx } from '../db/db.ts'
import { countRows } from '../db/lists/counts.ts'
import { emailKey } from '../db/lists/same-text.ts'
import type { Context } from '../events/context.ts'
import type { BookingPage } from '../resources/booking-pages/schema.ts'

const hour_ms = 3_600_000
const day_ms = 24 * hour_ms

/** A visitor's typed e-mail, and a keyed hash of the address and the page. */
type Booker = { email: string; address_hash: string }

/** An e-mail address in the form in which it is stored and compared. */
export const emailForm = (email: string): string => email.normalize('NFC')

// The key ignores the case of A to Z only. For other letters, look for both cases.
const casesOf = (email: string): string[] => {
  const form = emailForm(email)
  return [form.toLowerCase(), form.toUpperCase()].map(emailKey)
}

/**
 * The wait until the page's limits allow a visitor to book, in seconds; null if they may now. The caller holds the page's
 * times, so that the limits are exact. For open bookings the wait is one day: the start of another booking is private.
 */
export async function waitToBook(
  tx: Tx,
  context: Context,
  page: BookingPage,
  { email, address_hash }: Booker,
): Promise<number | null> {
  const waits = [
    await waitFor(tx, context, page, page.bookings_per_hour, hour_ms),
    await waitFor(tx, context, page, page.bookings_per_address_per_day, day_ms, address_hash),
    (await openBookings(tx, context, page.id, email)) >= page.open_bookings_per_email ? day_ms : 0,
  ]
  const longest_ms = Math.max(...waits)
  return longest_ms > 0 ? Math.ceil(longest_ms / 1000) : null
}

/** The wait until a page has fewer than `max` bookings in the last `window_ms`, in ms. An address counts only its own. */
async function waitFor(
  tx: Tx,
  { workspace_id, elapsed }: Context,
  { id }: BookingPage,
  max: number,
  window_ms: number,
  address_hash?: string,
): Promise<number> {
  const begin_ms = elapsed() - window_ms
  let recent = tx
    .selectFrom('booking_visits')
    .select('booked_at_ms')
    .where((eb) => eb.and({ workspace_id, booking_page_id: id }))
    .where('booked_at_ms', '>', begin_ms)
  if (address_hash !== undefined) recent = recent.where('address_hash', '=', address_hash)
  const last = await recent
    .orderBy('booked_at_ms', 'desc')
    .limit(1)
    .offset(max - 1)
    .executeTakeFirst()
  return last ? last.booked_at_ms - begin_ms : 0
}

/** The number of future appointments of a page that visitors booked with an e-mail. */
async function openBookings(
  tx: Tx,
  { workspace_id, now }: Context,
  page_id: number,
  email: string,
): Promise<number> {
  const open = tx
    .selectFrom('contacts')
    .innerJoin('appointments', (join) =>
      join
        .onRef('appointments.workspace_id', '=', 'contacts.workspace_id')
        .onRef('appointments.contact_id', '=', 'contacts.id')
        .on('appointments.deleted_at', 'is', null),
    )
    .where('contacts.workspace_id', '=', workspace_id)
    .where('contacts.email_key', 'in', casesOf(email))
    .where('contacts.deleted_at', 'is', null)
    .where('appointments.booking_page_id', '=', page_id)
    .where('appointments.link_hash', 'is not', null)
    .where('appointments.status', 'in', [sql.lit('scheduled' as const), sql.lit('requested' as const)])
    .where('appointments.start_at', '>', now)
  return countRows(open)
}

/** Records the address of a booking. The job removes it after a day, when no limit counts it. */
export async function recordBooking(
  tx: Tx,
  { workspace_id, elapsed }: Context,
  visit: { booking_page_id: number; appointment_id: number; address_hash: string },
): Promise<void> {
  await tx
    .insertInto('booking_visits')
    .values({ ...visit, workspace_id, booked_at_ms: elapsed() })
    .execute()
}

/** Removes up to `limit` addresses that booked at least a day ago, and returns how many. */
export async function removeOldAddresses(tx: Tx, elapsed_ms: number, limit: number): Promise<number> {
  const before = elapsed_ms - day_ms
  const old = await tx
    .selectFrom('booking_visits')
    .select(['workspace_id', 'booking_page_id', 'appointment_id'])
    .where('booked_at_ms', '<=', before)
    .limit(limit)
    .execute()
  for (const key of old)
    await tx
      .deleteFrom('booking_visits')
      .where((eb) => eb.and(key))
      .execute()
  return old.length
}
