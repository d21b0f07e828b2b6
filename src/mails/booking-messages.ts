import { dateOf, spanOf, zoneOfSpan } from '../booking-site/days.ts'
import { type CalendarEvent, calendar_statuses, eventFile } from '../icalendar/event.ts'
import { addressOf } from './address.ts'
import type { BookingKind } from './kinds.ts'
import type { Mailing } from './mailing.ts'
import { type Content, oneLine, unsubscribe_mark, unsubscribe_path } from './render.ts'
import { mailTexts } from './texts.ts'
import { type Reader, readerOf } from './when.ts'
import { type Whom, whomText } from './whom.ts'

type Slot = { start_at: string; end_at: string }
type Listed = Slot & { title: string; location: string | null }
type Shown = {
  kind: BookingKind
  /** A mail to a visitor shows nothing that a visitor typed, no notes and no reason. */
  audience: 'visitor' | 'host'
  appointment: Listed & {
    status: keyof typeof calendar_statuses
    created_at: string
  }
  before: Slot | null
  /** The visitor, for hosts alone. */
  name: string | null
  /** The company and the hosts, for the visitor alone. */
  whom?: Whom
  /** The reader was a host, and is none any longer. */
  is_replaced?: boolean
  link: string | null
}

const caseOf = (kind: BookingKind) =>
  kind.slice('booking_'.length) as 'requested' | 'confirmed' | 'declined' | 'moved' | 'cancelled'

/** Such as Wednesday 25 November 2026, 09:30–10:00, Europe/Berlin (GMT+1). */
function whenText(slot: Slot, reader: Reader): string {
  const by = readerOf(reader)
  return `${dateOf(Date.parse(slot.start_at), by)}, ${spanOf(slot, by)}, ${zoneOfSpan(slot, by, true)}`
}

/** The facts that a mail lists. */
function factsOf(
  reader: Reader,
  { appointment, before, who, whom }: Pick<Shown, 'before' | 'whom'> & { appointment: Listed; who: string },
): [string, string][] {
  const t = mailTexts(reader.language).booking
  const with_whom = whom ? oneLine(whomText(whom, reader.language)) : ''
  return [
    [t.what, oneLine(appointment.title)],
    [t.when, whenText(appointment, reader)],
    ...(before ? [[t.before, whenText(before, reader)] as [string, string]] : []),
    ...(appointment.location ? [[t.where, oneLine(appointment.location)] as [string, string]] : []),
    ...(with_whom ? [[t.with, with_whom] as [string, string]] : []),
    ...(who ? [[t.who, who] as [string, string]] : []),
  ]
}

/** A reminder of a booking, to the visitor. It shows nothing that a visitor typed. */
export function reminderMail(
  reader: Reader,
  base: string,
  { appointment, whom, link }: { appointment: Listed; whom: Whom; link: string | null },
): Content {
  const texts = mailTexts(reader.language)
  const t = texts.booking
  return {
    subject: t.reminder.subject({ title: oneLine(appointment.title) }),
    blocks: [
      { text: t.reminder.text },
      { facts: factsOf(reader, { appointment, before: null, who: '', whom }) },
      ...(link === null ? [] : [{ link: { label: t.change, url: link } }, { text: t.keep }]),
      { link: { label: t.reminder.stop, url: `${base}${unsubscribe_path}${unsubscribe_mark}` } },
    ],
  }
}

export function bookingMail(
  reader: Reader,
  base: string,
  { kind, audience, appointment, before, name, whom, is_replaced, link }: Shown,
): Content {
  const texts = mailTexts(reader.language)
  const t = texts.booking
  const what = caseOf(kind)
  const of_host = is_replaced ? 'replaced' : what
  const title = oneLine(appointment.title)
  const who = name === null ? '' : oneLine(name)
  const to_visitor = audience === 'visitor'
  const facts = factsOf(reader, { appointment, before, who, ...(whom && { whom }) })
  const is_over = what === 'cancelled' || what === 'declined'
  return {
    subject: to_visitor ? t.to_visitor[what]({ title }) : t.to_host[of_host]({ title, name: who }),
    blocks: [
      { text: to_visitor ? t.visitor[what] : t.host[of_host] },
      { facts },
      ...(link === null ? [] : [{ link: { label: to_visitor && !is_over ? t.change : t.see, url: link } }]),
      ...(to_visitor && link !== null && !is_over ? [{ text: t.keep }] : []),
      ...(to_visitor
        ? []
        : [{ link: { label: texts.unsubscribe, url: `${base}${unsubscribe_path}${unsubscribe_mark}` } }]),
    ],
  }
}

/** The calendar file of a mail, in lines that are not folded yet. */
export function bookingFile(
  reader: Reader,
  { audience, appointment, kind, link }: Shown,
  { uid, sequence }: { uid: string | null; sequence: number },
  { address }: Pick<Mailing, 'address'>,
  recipient: string,
  now: string,
): { method: 'REQUEST' | 'CANCEL'; file: string } {
  const t = mailTexts(reader.language).booking
  const is_over = kind === 'booking_cancelled' || kind === 'booking_declined'
  const method = is_over ? 'CANCEL' : 'REQUEST'
  const event: CalendarEvent = {
    uid: uid ?? '',
    sequence,
    title: oneLine(appointment.title),
    start_at: appointment.start_at,
    end_at: appointment.end_at,
    location: appointment.location,
    description: link === null ? '' : `${audience === 'visitor' ? t.change : t.see}: ${link}`,
    url: link ?? '',
    status: is_over ? 'CANCELLED' : calendar_statuses[appointment.status],
    created_at: appointment.created_at,
    updated_at: now,
    invitation: { method, organizer: address, attendee: addressOf(recipient)?.text ?? '' },
  }
  return { method, file: eventFile(event) }
}
