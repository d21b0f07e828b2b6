import { hash } from 'node:crypto'
import { type Clock, isoTime } from '../clock.ts'
import { type Db, type Tx, transaction } from '../db/db.ts'
import { emailKey, phoneKey, sameText } from '../db/lists/same-text.ts'
import { lockText } from '../db/locks.ts'
import { isLive } from '../db/references.ts'
import { type Context, contextOf } from '../events/context.ts'
import type { CustomFields } from '../http/fields.ts'
import { firstKind, mailBooking, noteNetwork } from '../resources/appointments/booking-mails.ts'
import { addBookingRow, linksOf } from '../resources/appointments/bookings.ts'
import { hostsOfNew, lockForChange } from '../resources/appointments/hosting.ts'
import {
  addAppointment,
  appointmentRecords,
  cancelLocked,
  lockAppointment,
  saveAppointment,
} from '../resources/appointments/operations.ts'
import { findLinkedAppointment, isTrashedLink } from '../resources/appointments/queries.ts'
import type { Appointment } from '../resources/appointments/schema.ts'
import { lockCalendars } from '../resources/booking-pages/hosts.ts'
import { bookingPageRecords, findPublicPage } from '../resources/booking-pages/operations.ts'
import { type BookingPage, pageWith } from '../resources/booking-pages/schema.ts'
import { fitsRules, isOffered } from '../resources/booking-pages/slots.ts'
import { createContact, findContactByEmail } from '../resources/contacts/operations.ts'
import type { Contact } from '../resources/contacts/schema.ts'
import { storedAnswers } from './answers.ts'
import { recordBooking, waitToBook } from './limits.ts'

/** The fields of a visitor, with trimmed texts. */
type Visitor = {
  first_name: string
  last_name: string
  email: string
  phone: string | null
  message: string | null
}

/** Why a visitor cannot change anything. Nothing was changed. */
export type Closed =
  /** The page is gone or takes no bookings. */
  | 'closed'
  /** The appointment has begun. */
  | 'begun'
  /** The appointment has ended. */
  | 'past'
  | 'cancelled'
  /** A request that was not accepted. */
  | 'declined'
/** Why a visitor did not get a time. Nothing was changed. */
export type Unfit =
  /** Another appointment has it. */
  | 'taken'
  /** The page does not offer it. */
  | 'gone'
  /** It is free, but the duration is not the one that the visitor saw. */
  | 'changed'
/** A limit of the page refuses bookings, by anybody or by this visitor, for this time. */
type Limited = { refused: 'limited'; retry_after_seconds: number }
type Refused<Reason> = { refused: Reason }
type Outcome<Reason> = { done: Appointment } | Refused<Reason>
export const isUnfit = (reason: string): reason is Unfit => ['taken', 'gone', 'changed'].includes(reason)

/** The time that a visitor asks for, and the duration that the form showed, in minutes; null if it showed none. */
export type Wish = { start_at: string; minutes: number | null }

type Deps = { db: Db; clock: Clock; request_id: string; network?: string }

/** The hash of a private link's token, which the database stores. */
export const linkHash = (token: string): string => hash('sha256', token)

/** A sent form. Its random `token` makes a repeated form one appointment. `address_hash` is a keyed hash of the address. */
type Form = Wish & {
  token: string
  visitor: Visitor
  /** The answers to the page's questions. */
  answers: CustomFields
  address_hash: string
  /** A keyed hash of the network address, for limits of mails. */
  network: string
  /** The language and the zone of the visitor's page. */
  language: string
  zone: string
}

/**
 * The token of the private link of a booking: 32 bytes as base64url, derived from the form's token. The same form with
 * another time makes another appointment. `round` counts appointments of the form in the trash: a restored one keeps its
 * own link.
 */
function linkToken(slug: string, { token, start_at, visitor }: Form, round: number): string {
  const parts = [token, slug, start_at, visitor.email.toLowerCase(), ...(round ? [round] : [])]
  return hash('sha256', parts.join('\n'), 'base64url')
}

const visitorContext = ({ clock, request_id }: Deps, workspace_id: number): Context =>
  contextOf(clock, { workspace_id, actor: { kind: 'visitor', id: null }, request_id })

const endOf = (start_ms: number, { duration_minutes }: BookingPage) =>
  isoTime(start_ms + duration_minutes * 60_000)

/** Books a time of a page, and finds or creates the contact (contract: booking). Returns the token of the private link. */
export async function book(
  deps: Deps,
  slug: string,
  form: Form,
): Promise<{ token: string } | Refused<'closed' | Unfit> | Limited> {
  const found = await findPublicPage(deps.db, slug)
  if (!found) return { refused: 'closed' }
  const { workspace_id } = found
  return transaction(deps.db, async (tx) => {
    // Hold the page's calendars: a free time, with its buffers, stays free until the commit.
    await lockCalendars(tx, workspace_id, { pages: [found.page.id] })
    const opened = (await findPublicPage(tx, slug))?.page
    if (opened?.id !== found.page.id) return { refused: 'closed' }
    const page = ofLength(opened, form.minutes)
    const token = await untrashedToken(tx, slug, form)
    if (await linkedAppointment(tx, linkHash(token))) return { token }
    const context = visitorContext(deps, workspace_id)
    const { visitor, address_hash } = form
    const wait = await waitToBook(tx, context, page, { email: visitor.email, address_hash })
    if (wait !== null) return { refused: 'limited', retry_after_seconds: wait }
    const refused = await refusalOf(tx, context, page, form)
    if (refused) return { refused }
    noteNetwork(tx, form.network)
    await addBooking(tx, context, page, form, token)
    return { token }
  })
}

async function untrashedToken(tx: Tx, slug: string, form: Form): Promise<string> {
  let round = 0
  while (await isTrashedLink(tx, linkHash(linkToken(slug, form, round)))) round++
  return linkToken(slug, form, round)
}

async function addBooking(
  tx: Tx,
  context: Context,
  page: BookingPage,
  { start_at, visitor, answers, address_hash, language, zone: time_zone }: Form,
  token: string,
): Promise<void> {
  const start_ms = Date.parse(start_at)
  const contact = await contactOf(tx, context, visitor)
  const { custom_fields, lines } = await storedAnswers(tx, context, page.questions, answers)
  const values = {
    title: page.title,
    type: 'booking',
    start_at: isoTime(start_ms),
    end_at: endOf(start_ms, page),
    contact_id: contact.id,
    booking_page_id: page.id,
    deal_id: null,
    location: null,
    notes: notesOf(visitor, contact, lines),
    owner_id: null,
    guest_ids: [],
    tags: [],
    custom_fields,
  }
  const status = page.approval ? 'requested' : 'scheduled'
  const link_hash = linkHash(token)
  const received = await hostsOfNew(tx, context, values, page.buffer_minutes)
  const appointment = await addAppointment(tx, context, values, page.time_zone, {
    status,
    link_hash,
    links: page.links_in_events ? linksOf(tx, page.slug, token) : {},
    ...received,
  })
  const { id: appointment_id } = appointment
  await addBookingRow(tx, context, appointment_id, { token, language, time_zone })
  await mailBooking(tx, context, { kind: firstKind(appointment), appointment, is_new: true })
  await recordBooking(tx, context, { booking_page_id: page.id, appointment_id, address_hash })
}

/** The page with a duration, if it offers this one. */
export const ofLength = (page: BookingPage, minutes: number | null): BookingPage =>
  pageWith(page, minutes ?? page.duration_minutes) ?? page

/** Why a visitor cannot have a time of a page, or null. The caller holds the page's calendars. */
async function refusalOf(
  tx: Tx,
  { workspace_id, now_ms }: Context,
  page: BookingPage,
  { start_at, minutes }: Wish,
  except_id?: number,
): Promise<Unfit | null> {
  const start_ms = Date.parse(start_at)
  if (!(await isOffered(tx, workspace_id, page, start_ms, now_ms, except_id)))
    return fitsRules(page, start_ms, now_ms) ? 'taken' : 'gone'
  return minutes === null || minutes === page.duration_minutes ? null : 'changed'
}

// Do not change an existing contact: a visitor may know the e-mail of another person.
async function contactOf(tx: Tx, context: Context, visitor: Visitor): Promise<Contact> {
  const { workspace_id } = context
  const { first_name, last_name, email, phone } = visitor
  // Two concurrent bookings on two pages with a new e-mail must create one contact. To avoid deadlocks, always lock the
  // calendars before the e-mail.
  await lockText(tx, 'contact_email', workspace_id, emailKey(email))
  for (;;) {
    const known = await findContactByEmail(tx, workspace_id, email)
    if (!known) break
    // A concurrent deletion may win until we hold the contact. Then look for another one.
    if (await isLive(tx, 'contacts', workspace_id, known.id)) return known
  }
  return createContact(tx, context, { first_name, last_name, email, phone, source: 'booking' }, [])
}

// The visitor's message, the name and phone if they differ from the contact's, and answers that no field takes.
function notesOf(visitor: Visitor, contact: Contact, answers: readonly string[]): string | null {
  const name = `${visitor.first_name} ${visitor.last_name}`
  const other_name = sameText(name) !== sameText(`${contact.first_name} ${contact.last_name}`)
  const known = [contact.phone, contact.mobile].map((number) => number && phoneKey(number))
  const other_phone = visitor.phone !== null && !known.includes(phoneKey(visitor.phone))
  const lines = [
    ...(other_name ? [`Name: ${name}`] : []),
    ...(other_phone ? [`Phone: ${visitor.phone}`] : []),
    ...answers,
  ]
  return [visitor.message, lines.join('\n')].filter(Boolean).join('\n\n') || null
}

export type Linked = { workspace_id: number; appointment: Appointment }

/** The live appointment of a private link, or null. */
export async function linkedAppointment(db: Db, link_hash: string): Promise<Linked | null> {
  const key = await findLinkedAppointment(db, link_hash)
  if (!key) return null
  const appointment = await appointmentRecords.find(db, key.workspace_id, key.id)
  return appointment && { workspace_id: key.workspace_id, appointment }
}

/** Why a visitor can no longer change an appointment, or null. */
export function closedBecause({ status, start_at, end_at }: Appointment, now_ms: number): Closed | null {
  if (status === 'cancelled' || status === 'declined') return status
  if (Date.parse(end_at) <= now_ms) return 'past'
  return Date.parse(start_at) <= now_ms ? 'begun' : null
}

type LinkedChange<Reason> = (tx: Tx, context: Context, before: Appointment) => Promise<Outcome<Reason>>

async function changeLinked<Reason>(
  deps: Deps,
  { workspace_id, appointment }: Linked,
  change: LinkedChange<Reason>,
): Promise<Outcome<Reason | Closed>> {
  return transaction(deps.db, async (tx): Promise<Outcome<Reason | Closed>> => {
    const context = visitorContext(deps, workspace_id)
    if (deps.network) noteNetwork(tx, deps.network)
    const before = await lockAppointment(tx, context, appointment.id)
    const refused = closedBecause(before, context.now_ms)
    return refused ? { refused } : change(tx, context, before)
  })
}

/** Cancels the appointment of a private link, also if its page takes no bookings. */
export const cancelLinked = (deps: Deps, linked: Linked, reason: string | null): Promise<Outcome<Closed>> =>
  changeLinked<Closed>(deps, linked, async (tx, context, before) => ({
    done: await cancelLocked(tx, context, before, { reason }),
  }))

/** Moves the appointment of a private link to another free time of its page. */
export const moveLinked = (deps: Deps, linked: Linked, wish: Wish): Promise<Outcome<Closed | Unfit>> =>
  changeLinked<Closed | Unfit>(deps, linked, async (tx, context, before) => {
    const { workspace_id } = context
    await lockForChange(tx, workspace_id, before, before)
    const opened = await openPage(tx, workspace_id, before)
    if (!opened) return { refused: 'closed' }
    const minutes = (Date.parse(before.end_at) - Date.parse(before.start_at)) / 60_000
    const page = ofLength(opened, wish.minutes ?? minutes)
    const start_ms = Date.parse(wish.start_at)
    if (start_ms === Date.parse(before.start_at)) return { done: before }
    const refused = await refusalOf(tx, context, page, wish, before.id)
    if (refused) return { refused }
    const times = { start_at: isoTime(start_ms), end_at: endOf(start_ms, page) }
    return { done: await saveAppointment(tx, context, before, times, page.time_zone, page.buffer_minutes) }
  })

/** The booking page of an appointment, if it takes bookings. */
async function openPage(
  db: Db,
  workspace_id: number,
  { booking_page_id }: Appointment,
): Promise<BookingPage | null> {
  const page =
    booking_page_id === null ? null : await bookingPageRecords.find(db, workspace_id, booking_page_id)
  return page?.active ? page : null
}
