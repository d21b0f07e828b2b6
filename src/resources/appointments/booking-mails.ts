import type { Tx } from '../../db/db.ts'
import { newId } from '../../db/ids.ts'
import type { Context } from '../../events/context.ts'
import { bookingFile, bookingMail } from '../../mails/booking-messages.ts'
import { cancelMails } from '../../mails/cancel.ts'
import type { BookingKind } from '../../mails/kinds.ts'
import { countMail, day_ms, hour_ms, type Limit, strangerLimits } from '../../mails/limits.ts'
import { type Mailing, mailingOf } from '../../mails/mailing.ts'
import { writeMail } from '../../mails/outbox.ts'
import { preferencesOf } from '../../mails/preferences.ts'
import { useless } from '../../mails/record.ts'
import { tokenMark } from '../../mails/render.ts'
import { languageOf } from '../../mails/texts.ts'
import { publicNames } from '../booking-pages/queries.ts'
import { type Booking, countBookingChange, findBooking } from './bookings.ts'
import type { Appointment } from './schema.ts'

// The mails of a booking: to the visitor, and to its hosts. Each is written in the transaction of the change.

/** A change of a booking. */
type Change = {
  kind: BookingKind
  appointment: Appointment
  /** The time before, if it has changed. */
  before?: Pick<Appointment, 'start_at' | 'end_at'> | null
  /** The booking is new: nothing has changed yet. */
  is_new?: true
  /** The members who get mail. By default, the visitor and all hosts do. */
  only?: readonly string[]
  /** The hosts who were none before a move. For them, the booking is new. */
  added?: readonly string[]
  /** The members who were hosts, and are none any longer. For them, the booking is cancelled. */
  replaced?: readonly string[]
}

/** The members who own an appointment or receive its visitor. */
export const hostsOf = ({ owner_id, host_ids }: Pick<Appointment, 'owner_id' | 'host_ids'>): string[] => [
  ...new Set([...(owner_id === null ? [] : [owner_id]), ...host_ids]),
]

/** The kind of the first mail of a booking. */
export const firstKind = ({ status }: Pick<Appointment, 'status'>): BookingKind =>
  status === 'requested' ? 'booking_requested' : 'booking_confirmed'

const max_to_host_a_day = 10
const network_key = 'network of the visitor'

/** Says from where a visitor changes bookings in this transaction: a keyed hash of the network address. */
export const noteNetwork = (tx: Tx, network: string): void => void tx.once(network_key, () => network)

/** Writes the mails of a change. A no-op for an appointment that no visitor made, and for one that has begun. */
export async function mailBooking(tx: Tx, context: Context, change: Change): Promise<void> {
  const { workspace_id, now } = context
  const { appointment, before, kind, is_new, only, replaced = [] } = change
  const { id } = appointment
  const booking = is_new ? await findBooking(tx, workspace_id, id) : await countBookingChange(tx, context, id)
  const is_over = kind === 'booking_cancelled' || kind === 'booking_declined'
  if (is_over || (before && before.start_at !== appointment.start_at))
    await cancelMails(tx, context, { kind: 'appointments', id }, useless, 'booking_reminder')
  const mailing = mailingOf(tx)
  if (!booking || !mailing || appointment.start_at <= now) return
  const [visitor, hosts, page] = await Promise.all([
    findVisitor(tx, workspace_id, appointment.contact_id),
    findHosts(tx, workspace_id, [...(only ?? hostsOf(appointment)), ...replaced]),
    findPage(tx, workspace_id, appointment.booking_page_id),
  ])
  const by = { tx, context, mailing, booking, change }
  if (visitor?.email && !only) await mailVisitor(by, { ...visitor, email: visitor.email }, page)
  for (const host of hosts) {
    // Nobody gets mail about their own act.
    const is_own_act = context.actor.kind === 'person' && context.actor.id === host.id
    if (!is_own_act && preferencesOf(host.mail_preferences).bookings) await mailHost(by, host, visitor)
  }
}

type By = { tx: Tx; context: Context; mailing: Mailing; booking: Booking; change: Change }
type Visitor = { id: number; email: string | null; first_name: string; last_name: string }
export type Page = {
  id: number
  slug: string
  time_zone: string
  bookings_per_hour: number
  reminders_minutes: string
}

/** How a visitor reads about a booking: in which language and zone, and by which private link. */
export function visitorReading(
  { seal }: Pick<Mailing, 'seal'>,
  { token: sealed, language, time_zone }: Pick<Booking, 'token' | 'language' | 'time_zone'>,
  page: Page | undefined,
) {
  const token = sealed === null ? null : seal.open(sealed)
  return {
    token,
    path: token === null || !page ? null : `/book/${encodeURIComponent(page.slug)}/a/${tokenMark(0)}`,
    reader: { language: languageOf(language), zone: time_zone ?? page?.time_zone ?? null },
  }
}

async function mailVisitor(
  { tx, context, mailing, booking, change }: By,
  visitor: Visitor & { email: string },
  page: Page | undefined,
): Promise<void> {
  const { appointment, kind, before = null } = change
  const { token, path, reader } = visitorReading(mailing, booking, page)
  const limits =
    context.actor.kind === 'visitor'
      ? [
          ...strangerLimits(mailing, {
            recipient: visitor.email,
            network: tx.peek<string>(network_key) ?? null,
          }),
          ...pageLimits(context, page),
        ]
      : []
  const is_limited = (await countMail(tx, limits, context.elapsed(), newId('clm'))) > 0
  const whom = await publicNames(tx, context.workspace_id, appointment.host_ids)
  const shown = { kind, appointment, before, name: null, whom, audience: 'visitor' as const }
  writeMail(tx, context, {
    kind,
    recipient: visitor.email,
    contact_id: visitor.id,
    record: { kind: 'appointments', id: appointment.id },
    language: reader.language,
    content: (base) => bookingMail(reader, base, { ...shown, link: path && base + path }),
    calendar: (base) =>
      bookingFile(
        reader,
        { ...shown, link: path && base + path },
        booking,
        mailing,
        visitor.email,
        context.now,
      ),
    ...(token !== null && { tokens: [token], tokens_until: appointment.end_at }),
    useless_at: appointment.start_at,
    ...(is_limited && { not_sent: 'limit' as const }),
  })
}

/** The limits of the mails to visitors of a page. */
export const pageLimits = ({ workspace_id }: Context, page: Page | undefined): Limit[] =>
  page
    ? [{ subject: `page ${workspace_id} ${page.id}`, max: 2 * page.bookings_per_hour, window_ms: hour_ms }]
    : []

type Host = {
  id: string
  email: string
  language: string | null
  time_zone: string | null
  mail_preferences: string | null
}

async function mailHost(
  { tx, context, mailing, booking, change }: By,
  host: Host,
  visitor?: Visitor,
): Promise<void> {
  const { appointment, added, replaced } = change
  const is_replaced = replaced?.includes(host.id)
  const { kind, before = null } = is_replaced
    ? { kind: 'booking_cancelled' as const }
    : added?.includes(host.id)
      ? { kind: firstKind(appointment) }
      : change
  const { workspace_id } = context
  const limit = {
    subject: `host ${workspace_id} ${appointment.id} ${host.id}`,
    max: max_to_host_a_day,
    window_ms: day_ms,
  }
  const is_limited = (await countMail(tx, [limit], context.elapsed(), newId('clm'))) > 0
  const language = languageOf(host.language)
  const reader = { language, zone: host.time_zone ?? null }
  const name = visitor ? `${visitor.first_name} ${visitor.last_name}` : null
  const shown = { kind, appointment, before, name, is_replaced, audience: 'host' as const }
  const path = `/calendar/${appointment.id}`
  writeMail(tx, context, {
    kind,
    recipient: host.email,
    user_id: host.id,
    unsubscribe: { user_id: host.id, name: 'bookings' },
    contact_id: visitor?.id ?? null,
    record: { kind: 'appointments', id: appointment.id },
    language,
    content: (base) => bookingMail(reader, base, { ...shown, link: base + path }),
    calendar: (base) =>
      bookingFile(reader, { ...shown, link: base + path }, booking, mailing, host.email, context.now),
    useless_at: appointment.start_at,
    ...(is_limited && { not_sent: 'limit' as const }),
  })
}

/** The live contact of an appointment. One in the trash gets no mail. */
export const findVisitor = (tx: Tx, workspace_id: number, id: number | null): Promise<Visitor | undefined> =>
  id === null
    ? Promise.resolve(undefined)
    : tx
        .selectFrom('contacts')
        .select(['id', 'email', 'first_name', 'last_name'])
        .where((eb) => eb.and({ workspace_id, id }))
        .where('deleted_at', 'is', null)
        .executeTakeFirst()

async function findHosts(tx: Tx, workspace_id: number, ids: readonly string[]): Promise<Host[]> {
  if (!ids.length) return []
  return tx
    .selectFrom('memberships as m')
    .innerJoin('users as u', 'u.id', 'm.user_id')
    .select(['u.id', 'u.email', 'u.language', 'u.time_zone', 'u.mail_preferences'])
    .where('m.workspace_id', '=', workspace_id)
    .where('u.id', 'in', ids)
    .orderBy('u.id')
    .execute()
}

export const findPage = (tx: Tx, workspace_id: number, id: number | null): Promise<Page | undefined> =>
  id === null
    ? Promise.resolve(undefined)
    : tx
        .selectFrom('booking_pages')
        .select(['id', 'slug', 'time_zone', 'bookings_per_hour', 'reminders_minutes'])
        .where((eb) => eb.and({ workspace_id, id }))
        .executeTakeFirst()
