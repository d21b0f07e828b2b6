import type { FieldProblem } from '../errors.ts'
import { answer_hours, lapsesAt } from '../resources/appointments/requests.ts'
import type { Appointment } from '../resources/appointments/schema.ts'
import type { Slot } from '../resources/booking-pages/availability.ts'
import type { BookingPage } from '../resources/booking-pages/schema.ts'
import { type Closed, closedBecause } from './book.ts'
import { type Choices, chooser } from './choose.ts'
import type { Reader } from './days.ts'
import { dateOf, timeOf, zoneName } from './days.ts'
import {
  type Hitch,
  hitchNote,
  problemSummary,
  slotOptions,
  type Typed,
  visitorFields,
  whenOf,
} from './details.ts'
import { type Html, html, paragraphs, type Screen } from './html.ts'

/** The path of the visitor's page, the zone of the booking page, and the visitor's locale and zone. */
export type VisitorView = { path: string; own_zone: string; reader: Reader }

const withZone = (path: string, { zone }: Reader) => `${path}?${new URLSearchParams({ zone })}`
const notice = (text: string | null | undefined) =>
  text ? html`<p class="notice" role="status">${text}</p>` : null

/** 1 hour 30 minutes. */
function lengthOf(minutes: number): string {
  const hours = Math.floor(minutes / 60)
  const parts = [
    hours > 0 && `${hours} ${hours === 1 ? 'hour' : 'hours'}`,
    minutes % 60 > 0 && `${minutes % 60} minutes`,
  ]
  return parts.filter(Boolean).join(' ')
}

const about = (page: BookingPage) =>
  html`<p class="muted">${lengthOf(page.duration_minutes)} · ${zoneName(page.time_zone)}</p>`

/** The booking page, with its free times. */
export const chooseScreen = (
  page: BookingPage,
  { path, own_zone, reader }: VisitorView,
  choices: Choices | null,
  text: string | null,
): Screen => ({
  title: page.title,
  zone: reader.zone,
  body: html`<header>
<h1 dir="auto">${page.title}</h1>
${about(page)}
${paragraphs(page.description ?? '')}
</header>
${notice(text)}
${chooser(path, choices, reader, own_zone)}`,
})

export type Details = {
  token: string
  typed: Typed
  problems?: readonly FieldProblem[]
  /** The chosen time. Null if the visitor must choose one of `others`. */
  slot: Slot | null
  others?: readonly Slot[]
  hitch?: Hitch
}

/** The form of a booking, at a chosen time or with times to choose from. */
export function detailsScreen(page: BookingPage, view: VisitorView, details: Details): Screen {
  const { path, own_zone, reader } = view
  const { token, typed, problems = [], slot, others = [], hitch } = details
  const wrong = hitch !== undefined || problems.length > 0
  return {
    status: hitch ? 409 : wrong ? 422 : 200,
    title: `${wrong ? 'Not booked yet: ' : ''}${page.title}`,
    body: html`<p><a class="back" href="${withZone(path, reader)}"><span aria-hidden="true">‹ </span>All free times</a></p>
<h1 dir="auto">${page.title}</h1>
${about(page)}
${hitch ? hitchNote(hitch, { has_others: others.length > 0, length: lengthOf(page.duration_minutes), typed: true }) : problemSummary(problems)}
<form method="post" action="${path}" novalidate>
<input type="hidden" name="token" value="${token}">
${shownFields(page, reader)}
${slot ? html`<input type="hidden" name="slot" value="${slot.start_at}"><p class="when">${whenOf(slot, reader, own_zone)}</p>` : others.length > 0 && slotOptions(others, reader)}
<h2>Your details</h2>
${visitorFields(typed, problems)}
${page.approval && html`<p class="muted">Somebody confirms each booking here. Your request keeps the time for up to ${answer_hours} hours, and the next page shows the answer.</p>`}
<button class="primary">${page.approval ? 'Request this time' : 'Book this time'}</button>
</form>`,
  }
}

// The duration and the zone that the visitor saw. A changed duration must be confirmed.
const shownFields = ({ duration_minutes }: BookingPage, { zone }: Reader) =>
  html`<input type="hidden" name="duration" value="${duration_minutes}"><input type="hidden" name="zone" value="${zone}">`

const endings: Record<Closed, string> = {
  cancelled: 'This appointment is cancelled',
  declined: 'This request was not accepted',
  past: 'This appointment is over',
  begun: 'This appointment has begun',
  closed: 'No bookings are taken here',
}

// Explains the state of a request, and when it ends.
function requestNote(appointment: Appointment, reader: Reader): Html {
  const ends_ms = lapsesAt(appointment)
  return html`<p>It is not booked yet: somebody confirms it first. The time is kept for you until <strong>${dateOf(ends_ms, reader)}, ${timeOf(ends_ms, reader)}</strong>. Without an answer by then the request ends, and nothing is booked. Load this page again to see the answer.</p>`
}

/** The private page of an appointment. `open_slug` is null if the booking page takes no bookings: then it cannot be moved. */
export function linkScreen(
  appointment: Appointment,
  { path, own_zone, reader }: VisitorView,
  { open_slug, now_ms, text }: { open_slug: string | null; now_ms: number; text?: string | null },
): Screen {
  const closed = closedBecause(appointment, now_ms)
  const requested = appointment.status === 'requested' && !closed
  const heading = closed ? endings[closed] : requested ? 'Your request is sent' : 'You are booked'
  const { title, location } = appointment
  const gone = closed === 'cancelled' || closed === 'declined'
  const to_calendar = html`<a class="button primary" href="${path}/calendar.ics">Add to calendar</a>`
  return {
    title: `${heading}: ${title}`,
    zone: reader.zone,
    body: html`<h1>${heading}</h1>
${notice(text)}
${requested && requestNote(appointment, reader)}
${closed === 'declined' && html`<p>Nobody confirmed it, so nothing is booked.</p>`}
<dl>
<div><dt>What</dt><dd dir="auto">${title}</dd></div>
<div><dt>When</dt><dd${gone && html` class="gone"`}>${whenOf(appointment, reader, own_zone)}</dd></div>
${location && html`<div><dt>Where</dt><dd dir="auto">${location}</dd></div>`}
</dl>
${
  closed
    ? html`${closed === 'begun' && html`<p class="actions">${to_calendar}</p>`}<p class="muted">It can no longer be changed here.</p>
${open_slug !== null && html`<p class="actions"><a class="button" href="${withZone(`/book/${open_slug}`, reader)}">Book another time</a></p>`}`
    : html`<p class="actions">${to_calendar}
${open_slug !== null && html`<a class="button" href="${withZone(`${path}/move`, reader)}">Move</a>`}
<a class="button" href="${withZone(`${path}/cancel`, reader)}">Cancel appointment</a></p>
<p class="muted">Keep the address of this page to yourself: whoever has it can move or cancel the appointment.</p>`
}`,
  }
}

const back = (path: string, reader: Reader) =>
  html`<p><a class="back" href="${withZone(path, reader)}"><span aria-hidden="true">‹ </span>Back to the appointment</a></p>`

/** The form that cancels an appointment. */
export const cancelScreen = (
  appointment: Appointment,
  { path, own_zone, reader }: VisitorView,
  typed: Typed = {},
  problems: readonly FieldProblem[] = [],
): Screen => ({
  status: problems.length ? 422 : 200,
  title: `Cancel: ${appointment.title}`,
  body: html`${back(path, reader)}
<h1>Cancel this appointment?</h1>
<p dir="auto">${appointment.title}</p>
<p class="when">${whenOf(appointment, reader, own_zone)}</p>
${problemSummary(problems)}
<form method="post" action="${path}/cancel" novalidate>
<input type="hidden" name="zone" value="${reader.zone}">
<div class="field"><label for="reason">Reason <span class="muted">(optional)</span></label>
<input id="reason" name="reason" maxlength="255" dir="auto" autocomplete="off" value="${typed.reason ?? ''}"></div>
<button class="danger">Cancel appointment</button>
</form>`,
})

/** The times to which an appointment can be moved. */
export const moveScreen = (
  appointment: Appointment,
  { path, own_zone, reader }: VisitorView,
  choices: Choices | null,
  text: string | null,
): Screen => ({
  title: `Move: ${appointment.title}`,
  zone: reader.zone,
  body: html`${back(path, reader)}
<h1>Choose a new time</h1>
<p><bdi>${appointment.title}</bdi> is now on:</p>
<p class="when">${whenOf(appointment, reader, own_zone)}</p>
${notice(text)}
${chooser(`${path}/move`, choices, reader, own_zone)}`,
})

type Moving = {
  /** The chosen time. Null if the visitor must choose one of `others`. */
  slot: Slot | null
  others?: readonly Slot[]
  hitch?: Hitch
}

/** The form that moves an appointment to the chosen time, or to one of the next free times. */
export function movingScreen(
  appointment: Appointment,
  page: BookingPage,
  { path, own_zone, reader }: VisitorView,
  { slot, others = [], hitch }: Moving,
): Screen {
  const to: Html | null = slot
    ? html`<input type="hidden" name="slot" value="${slot.start_at}"><h2>To</h2><p class="when">${whenOf(slot, reader, own_zone)}</p>`
    : others.length > 0
      ? slotOptions(others, reader)
      : null
  return {
    status: hitch === undefined ? 200 : hitch === 'none' ? 422 : 409,
    title: `${hitch ? 'Not moved yet: ' : ''}${appointment.title}`,
    body: html`<p><a class="back" href="${withZone(`${path}/move`, reader)}"><span aria-hidden="true">‹ </span>All free times</a></p>
<h1>Move this appointment?</h1>
<p dir="auto">${appointment.title}</p>
${hitch && hitchNote(hitch, { has_others: others.length > 0, length: lengthOf(page.duration_minutes) })}
<h2>From</h2><p class="when">${whenOf(appointment, reader, own_zone)}</p>
<form method="post" action="${path}/move" novalidate>
${shownFields(page, reader)}
${to}
${to && html`<button class="primary">Move to this time</button>`}
</form>`,
  }
}

/** Refuses a booking above a limit. It does not name the limit, which could reveal bookings of other people. */
export const limitedScreen = (page: BookingPage, seconds: number): Screen => ({
  status: 429,
  title: `Not booked: ${page.title}`,
  body: html`<h1>Not booked: too many bookings</h1>
${paragraphs(`There are too many bookings here at the moment, with this e-mail address, or from your network.\n\nTry again in ${lengthOf(Math.ceil(seconds / 60))}. If you have booked here before, you can also cancel an appointment by its private link.`)}`,
})

/** A page with a text only. */
export const wordsScreen = (status: number, title: string, text: string): Screen => ({
  status,
  title,
  body: html`<h1>${title}</h1>${paragraphs(text)}`,
})
