import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { ApiError, type FieldProblem, notFound } from '../errors.ts'
import { subscriberOf } from '../http/client-address.ts'
import { List, list } from '../http/envelope.ts'
import { bodyProblems } from '../http/validation.ts'
import { findPublicPage } from '../resources/booking-pages/operations.ts'
import { rangeOf } from '../resources/booking-pages/routes.ts'
import {
  type BookingPage,
  isSlug,
  type SlotsQuery,
  Slot as SlotView,
} from '../resources/booking-pages/schema.ts'
import { isOffered, offeredSlots } from '../resources/booking-pages/slots.ts'
import { book } from './book.ts'
import { readChoices } from './choose.ts'
import type { Reader } from './days.ts'
import { wantsJson } from './errors.ts'
import { type BookingForm, formToken, typedOf } from './form.ts'
import { page_headers } from './html.ts'
import { emailForm } from './limits.ts'
import { chooseScreen, detailsScreen, limitedScreen } from './screens.ts'
import { languageOf, textsOf } from './texts.ts'
import {
  askedOf,
  lengthSeen,
  linkPath,
  localeOfRequest,
  networkOf,
  offersOf,
  otherSlots,
  pagePath,
  type Site,
  slotAt,
  timeOfAddress,
  visitorViewOf,
  type WorkspacePage,
} from './visitor.ts'

export const SlugParams = Type.Object({ slug: Type.String() })

export const SlotList = List(SlotView)

async function openPage({ reading }: Site, slug: string): Promise<WorkspacePage> {
  const found = isSlug(slug) ? await reading((handle) => findPublicPage(handle, slug)) : null
  if (!found) throw notFound('This booking page')
  return found
}

type PageRequest = FastifyRequest<{ Params: Static<typeof SlugParams> }>

export async function showPage(site: Site, request: PageRequest, reply: FastifyReply) {
  const { slug } = request.params
  const found = await openPage(site, slug)
  const { workspace_id, page } = found
  const asked = askedOf(request)
  const view = visitorViewOf(request, pagePath(slug), page.time_zone, asked.zone)
  const now_ms = site.clock.now()
  return site.reading(async (handle) => {
    const start_at = timeOfAddress(asked.slot)
    if (start_at && (await isOffered(handle, workspace_id, page, Date.parse(start_at), now_ms))) {
      const form = { token: formToken(), typed: {}, slot: slotAt(start_at, page) }
      return site.show(reply, detailsScreen(page, view, form))
    }
    const choices = await readChoices(offersOf(handle, found, now_ms), view.reader, asked, { now_ms, page })
    const gone = asked.slot === undefined ? null : textsOf(view.reader).no_longer_free
    return site.show(reply, chooseScreen(page, view, choices, gone))
  })
}

export async function listSlots(
  site: Site,
  { params, query }: PageRequest & { query: Static<typeof SlotsQuery> },
  reply: FastifyReply,
): Promise<Static<typeof SlotList>> {
  const { workspace_id, page } = await openPage(site, params.slug)
  const now_ms = site.clock.now()
  const window = { ...rangeOf(query, now_ms), now_ms }
  const slots = await site.reading((handle) => offeredSlots(handle, workspace_id, page, window))
  reply.headers(page_headers)
  return list(slots, slots.length, { page: 1, per_page: Math.max(1, slots.length) })
}

type BookingRequest = PageRequest & { body: Static<typeof BookingForm> }

/** Books the time of a form, or shows the form again with the reason. */
export async function submitBooking(site: Site, request: BookingRequest, reply: FastifyReply) {
  const { body } = request
  const { slug } = request.params
  const found = await openPage(site, slug)
  const { page } = found
  const typed = typedOf(body)
  const token = formToken(body.token)
  const view = visitorViewOf(request, pagePath(slug), page.time_zone, typed.zone)
  const details = { token, typed }
  const problems = bodyProblems(body).map(withoutTime)
  if (problems.length) {
    const chosen = !problems.some(({ field }) => field === 'slot')
    const others = chosen ? [] : await otherSlots(site, found, null)
    const slot = chosen ? slotAt(body.slot, page) : null
    return site.show(reply, detailsScreen(page, view, { ...details, problems, slot, others }))
  }
  const outcome = await book(
    { ...site, request_id: request.id },
    slug,
    bookingOf(site, request, page, token, view.reader),
  )
  if ('token' in outcome) {
    const query = new URLSearchParams({ zone: view.reader.zone })
    return reply.headers(page_headers).redirect(`${linkPath(slug, outcome.token)}?${query}`, 303)
  }
  const { refused } = outcome
  if (refused === 'limited') return refuseForNow(site, request, reply, outcome.retry_after_seconds, page)
  if (refused === 'closed') throw notFound('This booking page')
  // The page may have changed since the first read.
  const now = await openPage(site, slug)
  const refusal =
    refused === 'changed'
      ? { slot: slotAt(body.slot, now.page) }
      : { slot: null, others: await otherSlots(site, now, body.slot) }
  return site.show(reply, detailsScreen(now.page, view, { ...details, ...refusal, hitch: refused }))
}

/** The booking that a valid form asks for. */
function bookingOf(
  { seal }: Site,
  { body, ip, socket }: BookingRequest,
  { id }: BookingPage,
  token: string,
  { locale, zone }: Reader,
) {
  const { slot, first_name, last_name, email, phone = null, message = null, duration } = body
  return {
    start_at: slot,
    minutes: lengthSeen(duration),
    token,
    visitor: { first_name, last_name, email: emailForm(email), phone, message },
    network: networkOf(seal, { ip, socket }),
    language: languageOf(locale),
    zone,
    address_hash: seal.mac('booking address', `${id} ${subscriberOf(ip, socket.remoteAddress)}`),
  }
}

function refuseForNow(
  { show }: Site,
  request: FastifyRequest,
  reply: FastifyReply,
  seconds: number,
  page: BookingPage,
): FastifyReply {
  const headers = { 'retry-after': String(seconds) }
  if (wantsJson(request))
    throw new ApiError('rate_limited', `Too many bookings. Try again in ${seconds} seconds.`, { headers })
  return show(
    reply.headers(headers),
    limitedScreen(page, seconds, textsOf({ locale: localeOfRequest(request) })),
  )
}

// A visitor with an invalid time must choose one, whatever is wrong with it.
const withoutTime = (problem: FieldProblem): FieldProblem =>
  problem.field === 'slot' ? { ...problem, code: 'required' } : problem
