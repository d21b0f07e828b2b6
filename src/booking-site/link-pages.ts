import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { notFound } from '../errors.ts'
import { bodyProblems } from '../http/validation.ts'
import { calendar_statuses, eventFile, foldedLines } from '../icalendar/event.ts'
import type { Whom } from '../mails/whom.ts'
import { findBooking, uidOfToken } from '../resources/appointments/bookings.ts'
import { bookingPageRecords } from '../resources/booking-pages/operations.ts'
import { publicNames } from '../resources/booking-pages/queries.ts'
import { type BookingPage, isSlug } from '../resources/booking-pages/schema.ts'
import { isOffered } from '../resources/booking-pages/slots.ts'
import {
  type Closed,
  cancelLinked,
  closedBecause,
  isUnfit,
  type Linked,
  linkedAppointment,
  linkHash,
  moveLinked,
  ofLength,
} from './book.ts'
import { readChoices } from './choose.ts'
import { type CancelForm, isToken, type MoveForm, typedOf } from './form.ts'
import { page_headers } from './html.ts'
import { cancelScreen, linkScreen, moveScreen, movingScreen } from './screens.ts'
import { textsOf } from './texts.ts'
import {
  askedOf,
  lengthSeen,
  linkPath,
  localeOfRequest,
  networkOf,
  offersOf,
  otherSlots,
  type Site,
  slotAt,
  timeOfAddress,
  visitorViewOf,
} from './visitor.ts'

export const LinkParams = Type.Object({ slug: Type.String(), token: Type.String() })
type LinkRequest = FastifyRequest<{ Params: Static<typeof LinkParams> }>
/** An appointment with its page. The page is null when it is in the trash: times are shown in UTC then. */
type Link = Linked & { page: BookingPage | null; path: string; names: Whom }

const linkOf = ({ reading }: Site, { params: { slug, token } }: LinkRequest): Promise<Link> =>
  reading(async (handle) => {
    const linked = isSlug(slug) && isToken(token) ? await linkedAppointment(handle, linkHash(token)) : null
    if (!linked) throw notFound('This appointment')
    const { workspace_id, appointment } = linked
    const { booking_page_id, start_at, end_at } = appointment
    const found =
      booking_page_id === null ? null : await bookingPageRecords.find(handle, workspace_id, booking_page_id)
    // A move keeps the length, if the page offers it.
    const page = found && ofLength(found, (Date.parse(end_at) - Date.parse(start_at)) / 60_000)
    const names = await publicNames(handle, workspace_id, appointment.host_ids)
    return { ...linked, page, path: linkPath(page?.slug ?? slug, token), names }
  })

const viewOfLink = (request: FastifyRequest, { path, page }: Link, zone: unknown) =>
  visitorViewOf(request, path, page?.time_zone ?? 'UTC', zone)

const privately = (reply: FastifyReply) => reply.header('x-robots-tag', 'noindex')

const seeLink = (reply: FastifyReply, { path }: Link, zone: string) =>
  privately(reply)
    .headers(page_headers)
    .redirect(`${path}?${new URLSearchParams({ zone })}`, 303)

/** Shows the page of an appointment, with the reason why something was refused. */
function explain(
  { clock, show }: Site,
  request: FastifyRequest,
  reply: FastifyReply,
  link: Link,
  refused?: Closed,
): FastifyReply {
  const { appointment, page } = link
  const zone = askedOf(request).zone ?? typedOf(request.body).zone
  const visitor = viewOfLink(request, link, zone)
  const text = refused ? textsOf(visitor.reader).refusals[refused] : null
  const view = { open_slug: page?.active ? page.slug : null, now_ms: clock.now(), text }
  const screen = linkScreen(appointment, { ...visitor, names: link.names }, view)
  return show(privately(reply), { ...screen, ...(refused && { status: 409 }) })
}

export async function showAppointment(site: Site, request: LinkRequest, reply: FastifyReply) {
  return explain(site, request, reply, await linkOf(site, request))
}

export async function sendCalendarFile(site: Site, request: LinkRequest, reply: FastifyReply) {
  const { workspace_id, appointment, path } = await linkOf(site, request)
  const booking = await site.reading((handle) => findBooking(handle, workspace_id, appointment.id))
  const texts = textsOf({ locale: localeOfRequest(request) })
  const link = `${site.config.public_url ?? `${request.protocol}://${request.host}`}${path}`
  // Without a method: the reader of the file adds the event themselves.
  const file = eventFile({
    ...appointment,
    uid: booking?.uid ?? uidOfToken(request.params.token),
    sequence: booking?.sequence ?? 0,
    description: texts.in_calendar({ requested: appointment.status === 'requested', link }),
    url: link,
    status: calendar_statuses[appointment.status],
  })
  return privately(reply)
    .headers({ ...page_headers, 'content-disposition': 'attachment; filename="appointment.ics"' })
    .type('text/calendar; charset=utf-8')
    .send(foldedLines(file))
}

export async function showCancelling(site: Site, request: LinkRequest, reply: FastifyReply) {
  const link = await linkOf(site, request)
  const refused = closedBecause(link.appointment, site.clock.now())
  if (refused) return explain(site, request, reply, link, refused)
  const { zone } = askedOf(request)
  return site.show(privately(reply), cancelScreen(link.appointment, viewOfLink(request, link, zone)))
}

export async function submitCancelling(
  site: Site,
  request: LinkRequest & { body: Static<typeof CancelForm> },
  reply: FastifyReply,
) {
  const link = await linkOf(site, request)
  const typed = typedOf(request.body)
  const view = viewOfLink(request, link, typed.zone)
  const problems = bodyProblems(request.body)
  if (problems.length)
    return site.show(privately(reply), cancelScreen(link.appointment, view, typed, problems))
  const by = { ...site, request_id: request.id, network: networkOf(site.seal, request) }
  const outcome = await cancelLinked(by, link, typed.reason ?? null)
  if ('done' in outcome || outcome.refused === 'cancelled' || outcome.refused === 'declined')
    return seeLink(reply, link, view.reader.zone)
  return explain(site, request, reply, link, outcome.refused)
}

export async function showMoving(site: Site, request: LinkRequest, reply: FastifyReply) {
  const link = await linkOf(site, request)
  const { workspace_id, appointment, page } = link
  const now_ms = site.clock.now()
  const refused = closedToMoving(link, now_ms)
  if (refused || !page) return explain(site, request, reply, link, refused ?? 'closed')
  const asked = askedOf(request)
  const view = viewOfLink(request, link, asked.zone)
  return site.reading(async (handle) => {
    const start_at = timeOfAddress(asked.slot)
    const { id } = appointment
    if (start_at && (await isOffered(handle, workspace_id, page, Date.parse(start_at), now_ms, id))) {
      const chosen = { slot: slotAt(start_at, page) }
      return site.show(privately(reply), movingScreen(appointment, page, view, chosen))
    }
    const offers = offersOf(handle, { workspace_id, page }, now_ms, appointment)
    const choices = await readChoices(offers, view.reader, asked, { now_ms, page })
    const gone = asked.slot === undefined ? null : textsOf(view.reader).no_longer_free
    return site.show(privately(reply), moveScreen(appointment, view, choices, gone))
  })
}

export async function submitMoving(
  site: Site,
  request: LinkRequest & { body: Static<typeof MoveForm> },
  reply: FastifyReply,
) {
  const link = await linkOf(site, request)
  const { body } = request
  const view = viewOfLink(request, link, typedOf(body).zone)
  const chosen = bodyProblems(body).length ? null : body.slot
  const by = { ...site, request_id: request.id, network: networkOf(site.seal, request) }
  const outcome =
    chosen === null
      ? { refused: closedToMoving(link, site.clock.now()) ?? ('none' as const) }
      : await moveLinked(by, link, { start_at: chosen, minutes: lengthSeen(typedOf(body).duration) })
  if ('done' in outcome) return seeLink(reply, link, view.reader.zone)
  const { refused } = outcome
  const again = refused === 'none' ? link : await linkOf(site, request)
  const { workspace_id, page, appointment } = again
  if (refused !== 'none' && !isUnfit(refused)) return explain(site, request, reply, again, refused)
  if (!page) return explain(site, request, reply, again, 'closed')
  const refusal =
    refused === 'changed' && chosen !== null
      ? { slot: slotAt(chosen, page) }
      : { slot: null, others: await otherSlots(site, { workspace_id, page }, chosen, appointment) }
  return site.show(privately(reply), movingScreen(appointment, page, view, { ...refusal, hitch: refused }))
}

/** Why an appointment cannot be moved; null if it can. */
const closedToMoving = ({ appointment, page }: Link, now_ms: number): Closed | null =>
  closedBecause(appointment, now_ms) ?? (page?.active ? null : 'closed')
