import type { FieldProblem } from '../errors.ts'
import { type Whom, whomText } from '../mails/whom.ts'
import { answer_hours, lapsesAt } from '../resources/appointments/requests.ts'
import type { Appointment } from '../resources/appointments/schema.ts'
import type { Slot } from '../resources/booking-pages/availability.ts'
import type { BookingPage } from '../resources/booking-pages/schema.ts'
import { closedBecause } from './book.ts'
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
import { around, languageOf, lengthOf, type Texts, textsOf } from './texts.ts'

/**
 * The path of the visitor's page, the zone of the booking page, the visitor's locale and zone, and a chosen duration that is
 * not the page's own.
 */
export type VisitorView = {
  path: string
  own_zone: string
  reader: Reader
  duration?: string
  /** The names of the company and of the hosts. */
  names?: Whom
}

const withZone = (path: string, { zone }: Reader, duration?: string) =>
  `${path}?${new URLSearchParams({ zone, ...(duration && { duration }) })}`
const notice = (text: string | null | undefined) =>
  text ? html`<p class="notice" role="status">${text}</p>` : null

/** With whom, at which company, how long. */
function about(page: BookingPage, { reader, names }: Pick<VisitorView, 'reader' | 'names'>): Html {
  const t = textsOf(reader)
  const { company = '', hosts = [] } = names ?? {}
  const type = page.assignment === 'round_robin' ? 'disjunction' : 'conjunction'
  const list = new Intl.ListFormat(languageOf(reader.locale), { type }).format(hosts)
  const whom = [list && t.with_whom({ names: list }), company].filter(Boolean).join(' · ')
  return html`${whom && html`<p class="muted" dir="auto">${whom}</p>`}
<p class="muted">${lengthOf(t, page.duration_minutes)} · ${zoneName(page.time_zone)}</p>`
}

/** The booking page, with its free times. */
export const chooseScreen = (
  page: BookingPage,
  { path, own_zone, reader, duration, names }: VisitorView,
  choices: Choices | null,
  text: string | null,
): Screen => ({
  title: page.title,
  zone: reader.zone,
  origins: page.embed_origins,
  body: html`<header>
<h1 dir="auto">${page.title}</h1>
${about(page, { reader, names })}
${paragraphs(page.description ?? '')}
</header>
${durationChoice(page, path, reader)}
${notice(text)}
${chooser(path, choices, reader, own_zone, duration)}`,
})

/** The durations that a visitor may choose, as links. */
function durationChoice(
  { durations, duration_minutes }: BookingPage,
  path: string,
  reader: Reader,
): Html | null {
  if (!durations || durations.length < 2) return null
  const t = textsOf(reader)
  const link = (minutes: number) =>
    html`<li><a class="button" href="${withZone(path, reader, String(minutes))}"${minutes === duration_minutes && html` aria-current="true"`}>${lengthOf(t, minutes)}</a></li>`
  return html`<nav aria-label="${t.length}"><ul class="durations">${durations.toSorted((a, b) => a - b).map(link)}</ul></nav>`
}

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
  const { path, own_zone, reader, duration } = view
  const t = textsOf(reader)
  const { token, typed, problems = [], slot, others = [], hitch } = details
  const wrong = hitch !== undefined || problems.length > 0
  return {
    status: hitch ? 409 : wrong ? 422 : 200,
    title: wrong ? t.not_booked_yet(page) : page.title,
    origins: page.embed_origins,
    body: html`<p><a class="back" href="${withZone(path, reader, duration)}"><span aria-hidden="true">&#8249; </span>${t.all_times}</a></p>
<h1 dir="auto">${page.title}</h1>
${about(page, view)}
${hitch ? hitchNote(hitch, t, { has_others: others.length > 0, length: lengthOf(t, page.duration_minutes), typed: true }) : problemSummary(problems, t, page.questions)}
<form method="post" action="${path}" novalidate>
<input type="hidden" name="token" value="${token}">
${shownFields(page, reader)}
${slot ? html`<input type="hidden" name="slot" value="${slot.start_at}"><p class="when">${whenOf(slot, reader, own_zone)}</p>` : others.length > 0 && slotOptions(others, reader)}
<h2>${t.your_details}</h2>
${visitorFields(typed, problems, t, page.questions)}
${page.approval && html`<p class="muted">${t.confirmed_by({ n: answer_hours })}</p>`}
<p class="muted">${t.after_booking}</p>
<button class="primary">${page.approval ? t.request_time : t.book_time}</button>
</form>`,
  }
}

// The duration and the zone that the visitor saw. A changed duration must be confirmed.
const shownFields = ({ duration_minutes }: BookingPage, { zone }: Reader) =>
  html`<input type="hidden" name="duration" value="${duration_minutes}"><input type="hidden" name="zone" value="${zone}">`

// Explains the state of a request, and when it ends.
function requestNote(appointment: Appointment, reader: Reader): Html {
  const ends_ms = lapsesAt(appointment)
  const end = html`<strong>${dateOf(ends_ms, reader)}, ${timeOf(ends_ms, reader)}</strong>`
  return html`<p>${around(textsOf(reader).request_note, end)}</p>`
}

/** The private page of an appointment. `open_slug` is null if the booking page takes no bookings: then it cannot be moved. */
export function linkScreen(
  appointment: Appointment,
  { path, own_zone, reader, names }: VisitorView,
  { open_slug, now_ms, text }: { open_slug: string | null; now_ms: number; text?: string | null },
): Screen {
  const t = textsOf(reader)
  const closed = closedBecause(appointment, now_ms)
  const requested = appointment.status === 'requested' && !closed
  const heading = closed ? t.endings[closed] : requested ? t.requested : t.booked
  const { title, location } = appointment
  const whom = names ? whomText(names, languageOf(reader.locale)) : ''
  const gone = closed === 'cancelled' || closed === 'declined'
  const to_calendar = html`<a class="button primary" href="${path}/calendar.ics">${t.to_calendar}</a>`
  return {
    title: `${heading}: ${title}`,
    zone: reader.zone,
    body: html`<h1>${heading}</h1>
${notice(text)}
${requested && requestNote(appointment, reader)}
${closed === 'declined' && html`<p>${t.not_confirmed}</p>`}
<dl>
<div><dt>${t.what}</dt><dd dir="auto">${title}</dd></div>
<div><dt>${t.when}</dt><dd${gone && html` class="gone"`}>${whenOf(appointment, reader, own_zone)}</dd></div>
${whom && html`<div><dt>${t.with}</dt><dd dir="auto">${whom}</dd></div>`}
${location && html`<div><dt>${t.where}</dt><dd dir="auto">${location}</dd></div>`}
</dl>
${
  closed
    ? html`${closed === 'begun' && html`<p class="actions">${to_calendar}</p>`}<p class="muted">${t.unchangeable}</p>
${open_slug !== null && html`<p class="actions"><a class="button" href="${withZone(`/book/${open_slug}`, reader)}">${t.book_another}</a></p>`}`
    : html`<p class="actions">${to_calendar}
${open_slug !== null && html`<a class="button" href="${withZone(`${path}/move`, reader)}">${t.move}</a>`}
<a class="button" href="${withZone(`${path}/cancel`, reader)}">${t.cancel}</a></p>
<p class="muted">${t.keep_address}</p>`
}`,
  }
}

const back = (path: string, reader: Reader) =>
  html`<p><a class="back" href="${withZone(path, reader)}"><span aria-hidden="true">&#8249; </span>${textsOf(reader).back_to_appointment}</a></p>`

/** The form that cancels an appointment. */
export const cancelScreen = (
  appointment: Appointment,
  { path, own_zone, reader }: VisitorView,
  typed: Typed = {},
  problems: readonly FieldProblem[] = [],
): Screen => {
  const t = textsOf(reader)
  return {
    status: problems.length ? 422 : 200,
    title: t.cancel_title(appointment),
    body: html`${back(path, reader)}
<h1>${t.cancel_question}</h1>
<p dir="auto">${appointment.title}</p>
<p class="when">${whenOf(appointment, reader, own_zone)}</p>
${problemSummary(problems, t)}
<form method="post" action="${path}/cancel" novalidate>
<input type="hidden" name="zone" value="${reader.zone}">
<div class="field"><label for="reason">${t.labels.reason} <span class="muted">${t.optional}</span></label>
<input id="reason" name="reason" maxlength="255" dir="auto" autocomplete="off" value="${typed.reason ?? ''}"></div>
<button class="danger">${t.cancel}</button>
</form>`,
  }
}

/** The times to which an appointment can be moved. */
export const moveScreen = (
  appointment: Appointment,
  { path, own_zone, reader }: VisitorView,
  choices: Choices | null,
  text: string | null,
): Screen => ({
  title: textsOf(reader).move_title(appointment),
  zone: reader.zone,
  body: html`${back(path, reader)}
<h1>${textsOf(reader).choose_new}</h1>
<p>${around(textsOf(reader).now_on, html`<bdi>${appointment.title}</bdi>`)}</p>
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
  const t = textsOf(reader)
  const to: Html | null = slot
    ? html`<input type="hidden" name="slot" value="${slot.start_at}"><h2>${t.to}</h2><p class="when">${whenOf(slot, reader, own_zone)}</p>`
    : others.length > 0
      ? slotOptions(others, reader)
      : null
  return {
    status: hitch === undefined ? 200 : hitch === 'none' ? 422 : 409,
    title: hitch ? t.not_moved_yet(appointment) : appointment.title,
    body: html`<p><a class="back" href="${withZone(`${path}/move`, reader)}"><span aria-hidden="true">&#8249; </span>${t.all_times}</a></p>
<h1>${t.move_question}</h1>
<p dir="auto">${appointment.title}</p>
${hitch && hitchNote(hitch, t, { has_others: others.length > 0, length: lengthOf(t, page.duration_minutes) })}
<h2>${t.from}</h2><p class="when">${whenOf(appointment, reader, own_zone)}</p>
<form method="post" action="${path}/move" novalidate>
${shownFields(page, reader)}
${to}
${to && html`<button class="primary">${t.move_here}</button>`}
</form>`,
  }
}

/** The end of a booking in a frame. It changes nothing: the private page opens in a new window. */
export function bookedScreen(
  page: BookingPage,
  appointment: Appointment,
  { path, own_zone, reader }: VisitorView,
): Screen {
  const t = textsOf(reader)
  const heading = appointment.status === 'requested' ? t.requested : t.booked
  return {
    title: `${heading}: ${page.title}`,
    origins: page.embed_origins,
    body: html`<h1>${heading}</h1>
<p class="when">${whenOf(appointment, reader, own_zone)}</p>
<p>${t.open_hint}</p>
<p class="actions"><a class="button primary" href="${withZone(path, reader)}" target="_blank" rel="noopener">${t.open_private}</a></p>`,
  }
}

/** Refuses a booking above a limit. It does not name the limit, which could reveal bookings of other people. */
export const limitedScreen = (page: BookingPage, seconds: number, t: Texts): Screen => ({
  status: 429,
  title: t.not_booked(page),
  origins: page.embed_origins,
  body: html`<h1>${t.too_many}</h1>
${paragraphs(t.too_many_text({ wait: lengthOf(t, Math.ceil(seconds / 60)) }))}`,
})

/** A page with a text only. */
export const wordsScreen = (status: number, title: string, text: string): Screen => ({
  status,
  title,
  body: html`<h1>${title}</h1>${paragraphs(text)}`,
})
