import { sql } from 'kysely'
import type { Db } from '../db/db.ts'
import { lowerCase, lowerCased } from '../db/lists/letter-case.ts'
import type { Context } from '../events/context.ts'
import type { BookingPage } from '../resources/booking-pages/schema.ts'

const hour_ms = 3_600_000
const day_ms = 24 * hour_ms

/** Who books: the e-mail as it was typed, and a keyed hash of the address on this page. */
export type Booker = { email: string; address_hash: string }

/** An e-mail address as it is kept and compared: one spelling of each letter. */
export const emailForm = (email: string): string => email.normalize('NFC')

// The index knows the case of A to Z alone: of other letters, both.
const casesOf = (email: string): string[] => {
  const form = emailForm(email)
  return [form.toLowerCase(), form.toUpperCase()].map(lowerCased)
}

/**
 * How long a visitor has to wait until the page's limits let them book, in seconds; null: they may. The caller holds the
 * page's times, so that the limits are exact. The start of somebody else's booking is private, so Retry-After
 * is one day.
 */
export async function waitToBook(
  tx: Db,
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

/** Until fewer than `most` bookings of a page are as young as `window_ms`, in ms; with an address, of its own alone. */
async function waitFor(
  tx: Db,
  { workspace_id, elapsed }: Context,
  { id }: BookingPage,
  most: number,
  window_ms: number,
  address_hash?: string,
): Promise<number> {
  const begin_ms = elapsed() - window_ms
  let young = tx
    .selectFrom('booking_visits')
    .select('booked_at_ms')
    .where('workspace_id', '=', workspace_id)
    .where('booking_page_id', '=', id)
    .where('booked_at_ms', '>', begin_ms)
  if (address_hash !== undefined) young = young.where('address_hash', '=', address_hash)
  const last = await young
    .orderBy('booked_at_ms', 'desc')
    .limit(1)
    .offset(most - 1)
    .executeTakeFirst()
  return last ? last.booked_at_ms - begin_ms : 0
}

/** How many appointments that visitors booked with an e-mail are still to come on a page. */
async function openBookings(
  tx: Db,
  { workspace_id, now }: Context,
  page_id: number,
  email: string,
): Promise<number> {
  const { n } = await tx
    .selectFrom('contacts')
    .innerJoin('appointments', (join) =>
      join
        .onRef('appointments.workspace_id', '=', 'contacts.workspace_id')
        .onRef('appointments.contact_id', '=', 'contacts.id')
        .on('appointments.deleted_at', 'is', null),
    )
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('contacts.workspace_id', '=', workspace_id)
    .where(lowerCase(tx, 'contacts.email'), 'in', casesOf(email))
    .where('contacts.deleted_at', 'is', null)
    .where('appointments.booking_page_id', '=', page_id)
    .where('appointments.link_hash', 'is not', null)
    .where('appointments.status', 'in', [sql.lit('scheduled' as const), sql.lit('requested' as const)])
    .where('appointments.start_at', '>', now)
    .executeTakeFirstOrThrow()
  return Number(n)
}

/** Notes that an address has booked: for a day, as long as a limit counts it. */
export async function noteBooking(
  tx: Db,
  { workspace_id, elapsed }: Context,
  {
    page_id,
    appointment_id,
    address_hash,
  }: { page_id: number; appointment_id: number; address_hash: string },
): Promise<void> {
  await tx
    .insertInto('booking_visits')
    .values({
      workspace_id,
      booking_page_id: page_id,
      appointment_id,
      address_hash,
      booked_at_ms: elapsed(),
    })
    .execute()
}

/** Forgets up to `limit` addresses that booked a day ago or earlier; returns how many. */
export async function forgetAddresses(tx: Db, elapsed_ms: number, limit: number): Promise<number> {
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
