import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { ApiError, type FieldProblem, notFound } from '../errors.ts'
import { subscriberOf } from '../http/client-address.ts'
import { List, list } from '../http/envelope.ts'
import type { CustomFields } from '../http/fields.ts'
import { bodyProblems } from '../http/validation.ts'
import { findPublicPage } from '../resources/booking-pages/operations.ts'
import { publicNames } from '../resources/booking-pages/queries.ts'
import { answerField, answersOf } from '../resources/booking-pages/questions.ts'
import { pageOf, rangeOf } from '../resources/booking-pages/routes.ts'
import {
  type BookingPage,
  isSlug,
  type SlotsQuery,
  Slot as SlotView,
} from '../resources/booking-pages/schema.ts'
import { isOffered, offeredSlots } from '../resources/booking-pages/slots.ts'
import { book, linkedAppointment, linkHash, ofLength } from './book.ts'
import { readChoices } from './choose.ts'
import type { Reader } from './days.ts'
import { wantsJson } from './errors.ts'
import { type BookingForm, formToken, isToken, typedOf } from './form.ts'
import { page_headers } from './html.ts'
import { emailForm } from './limits.ts'
import { bookedScreen, chooseScreen, detailsScreen, limitedScreen, type VisitorView } from './screens.ts'
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

const hostIds = ({ hosts }: BookingPage) => hosts.map(({ user_id }) => user_id)

export async function showPage(site: Site, request: PageRequest, reply: FastifyReply) {
  const { slug } = request.params
  const found = await openPage(site, slug)
  const { workspace_id } = found
  const asked = askedOf(request)
  const page = pageOf(found.page, asked.duration)
  const view = viewOfPage(request, found.page, page, asked.zone)
  const now_ms = site.clock.now()
  return site.reading(async (handle) => {
    view.names = await publicNames(handle, workspace_id, hostIds(page))
    const start_at = timeOfAddress(asked.slot)
    if (start_at && (await isOffered(handle, workspace_id, page, Date.parse(start_at), now_ms))) {
      const form = { token: formToken(), typed: {}, slot: slotAt(start_at, page) }
      return site.show(reply, detailsScreen(page, view, form))
    }
    const offers = offersOf(handle, { workspace_id, page }, now_ms)
    const choices = await readChoices(offers, view.reader, asked, { now_ms, page })
    const gone = asked.slot === undefined ? null : textsOf(view.reader).no_longer_free
    return site.show(reply, chooseScreen(page, view, choices, gone))
  })
}

export async function listSlots(
  site: Site,
  { params, query }: PageRequest & { query: Static<typeof SlotsQuery> },
  reply: FastifyReply,
): Promise<Static<typeof SlotList>> {
  const found = await openPage(site, params.slug)
  const { workspace_id } = found
  const page = pageOf(found.page, query.duration)
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
  const typed = typedOf(body)
  const page = ofLength(found.page, lengthSeen(typed.duration))
  const token = formToken(body.token)
  const view = viewOfPage(request, found.page, page, typed.zone)
  const details = { token, typed }
  const { answers, problems: wrong } = answersOf(page.questions, typed, view.reader.locale)
  const unfit = bodyProblems(body).map(withoutTime)
  const problems = [...unfit, ...wrong.filter(({ field }) => unfit.every((one) => one.field !== field))]
  const addNames = async () => {
    view.names = await site.reading((handle) => publicNames(handle, found.workspace_id, hostIds(found.page)))
  }
  const showProblems = async (problems: readonly FieldProblem[]) => {
    await addNames()
    const chosen = !problems.some(({ field }) => field === 'slot')
    const others = chosen ? [] : await otherSlots(site, { ...found, page }, null)
    const slot = chosen ? slotAt(body.slot, page) : null
    return site.show(reply, detailsScreen(page, view, { ...details, problems, slot, others }))
  }
  if (problems.length) return showProblems(problems)
  const form = bookingOf(site, request, page, { token, answers, ...view.reader })
  const outcome = await book({ ...site, request_id: request.id }, slug, form).catch(refusedAnswers)
  if ('problems' in outcome) return showProblems(outcome.problems)
  if ('token' in outcome) {
    const { zone } = view.reader
    if (isFramed(request) && page.embed_origins.length) {
      const query = new URLSearchParams({ link: outcome.token, zone })
      return reply.headers(page_headers).redirect(`${pagePath(slug)}/booked?${query}`, 303)
    }
    const query = new URLSearchParams({ zone })
    return reply.headers(page_headers).redirect(`${linkPath(slug, outcome.token)}?${query}`, 303)
  }
  const { refused } = outcome
  if (refused === 'limited') return refuseForNow(site, request, reply, outcome.retry_after_seconds, page)
  if (refused === 'closed') throw notFound('This booking page')
  await addNames()
  // The page may have changed since the first read.
  const opened = await openPage(site, slug)
  const now = { ...opened, page: ofLength(opened.page, lengthSeen(typed.duration)) }
  const refusal =
    refused === 'changed'
      ? { slot: slotAt(body.slot, now.page) }
      : { slot: null, others: await otherSlots(site, now, body.slot) }
  return site.show(reply, detailsScreen(now.page, view, { ...details, ...refusal, hitch: refused }))
}

/** The answers that another record took at the same moment. */
function refusedAnswers(error: unknown): { problems: FieldProblem[] } {
  const { fields = [] } = error instanceof ApiError ? error : {}
  const problems = fields.flatMap(({ field, ...problem }) => {
    const [, key] = /^custom_fields\.(.+)$/s.exec(field) ?? []
    return key === undefined ? [] : [{ ...problem, field: answerField({ key }) }]
  })
  if (!problems.length) throw error
  return { problems }
}

/** The view of a page: its links keep a duration that is not the page's own. */
function viewOfPage(request: PageRequest, page: BookingPage, shown: BookingPage, zone: unknown): VisitorView {
  const view = visitorViewOf(request, pagePath(page.slug), page.time_zone, zone)
  const { duration_minutes } = shown
  return {
    ...view,
    ...(duration_minutes !== page.duration_minutes && { duration: String(duration_minutes) }),
  }
}

/** Whether a browser shows the answer in a frame. */
export const isFramed = ({ headers }: Pick<FastifyRequest, 'headers'>): boolean =>
  headers['sec-fetch-dest'] === 'iframe'

/** The end of a booking in a frame. The private page, which can change the appointment, opens in a new window. */
export async function showBooked(site: Site, request: PageRequest, reply: FastifyReply) {
  const { slug } = request.params
  const { page } = await openPage(site, slug)
  const { link } = request.query as { link?: unknown }
  const linked = isToken(link)
    ? await site.reading((handle) => linkedAppointment(handle, linkHash(link)))
    : null
  if (!linked || linked.appointment.booking_page_id !== page.id) throw notFound('This appointment')
  const view = visitorViewOf(request, linkPath(slug, link as string), page.time_zone, askedOf(request).zone)
  return site.show(reply, bookedScreen(page, linked.appointment, view))
}

/** The booking that a valid form asks for. */
function bookingOf(
  { seal }: Site,
  { body, ip, socket }: BookingRequest,
  { id }: BookingPage,
  { token, answers, locale, zone }: Reader & { token: string; answers: CustomFields },
) {
  const { slot, first_name, last_name, email, phone = null, message = null, duration } = body
  return {
    start_at: slot,
    minutes: lengthSeen(duration),
    token,
    answers,
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
