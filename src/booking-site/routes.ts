import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { subscriberOf } from '../http/client-address.ts'
import { List, list } from '../http/envelope.ts'
import { ApiError, type FieldProblem, notFound } from '../http/errors.ts'
import { operation } from '../http/operation.ts'
import { type App, answerBadPaths } from '../http/server.ts'
import type { Service } from '../http/service.ts'
import { bodyProblems } from '../http/validation.ts'
import { findPublicPage } from '../resources/booking-pages/operations.ts'
import { rangeOf } from '../resources/booking-pages/routes.ts'
import { type BookingPage, isSlug, SlotsQuery, Slot as SlotView } from '../resources/booking-pages/schema.ts'
import { isOffered, offeredSlots } from '../resources/booking-pages/slots.ts'
import { assetRoute } from './assets.ts'
import { book } from './book.ts'
import { readChoices } from './choose.ts'
import { answerErrors, errorScreen, limitAddresses, wantsJson } from './errors.ts'
import { BookingForm, formToken, parseForms, typedOf } from './form.ts'
import { documentOf, HtmlPage, page_headers } from './html.ts'
import { emailForm } from './limits.ts'
import { linkRoutes } from './link-routes.ts'
import {
  askedOf,
  type Found,
  lengthSeen,
  linkPath,
  offersOf,
  otherSlots,
  pagePath,
  placeOf,
  type Show,
  type Site,
  slotAt,
  timeOfAddress,
} from './place.ts'
import { chooseScreen, detailsScreen, limitedScreen } from './screens.ts'

/** The pages below /book, open to everybody: visitors choose a free time, book it, and cancel or move it by their link. */
export async function publicBooking(root: App, service: Service): Promise<void> {
  await root.register(
    async (scope) => {
      const app = scope as unknown as App
      const assets = assetRoute(app)
      const show: Show = (reply, screen) =>
        reply
          .code(screen.status ?? 200)
          .headers(page_headers)
          .type('text/html; charset=utf-8')
          .send(documentOf(screen, assets))
      answerBadPaths(root, (error, request, reply) => {
        if (!request.url.startsWith('/book/') || wantsJson(request)) return false
        show(reply, errorScreen(error.statusCode))
        return true
      })
      parseForms(app)
      answerErrors(app, show)
      limitAddresses(app, service.config.booking_rate_per_second, service.clock)
      // The first hook of the server has already refused other methods of paths that exist.
      app.setNotFoundHandler(() => {
        throw notFound('This page')
      })
      const site = { ...service, show }
      pageRoutes(app, site)
      linkRoutes(app, site)
    },
    { prefix: '/book' },
  )
}

const SlugParams = Type.Object({ slug: Type.String() })

/** A booking page: its free times, as a page and as JSON, and the form that books one. Paths are below /book. */
function pageRoutes(app: App, site: Site): void {
  operation(
    app,
    {
      method: 'GET',
      path: '/:slug',
      scope: 'open',
      summary: 'Choose a free time, or fill in the form for the chosen time',
      params: SlugParams,
      answers: { 200: HtmlPage },
      extension: true,
    },
    (request, reply) => showPage(site, request, reply),
  )

  operation(
    app,
    {
      method: 'POST',
      path: '/:slug',
      scope: 'open',
      summary: 'Book a time',
      params: SlugParams,
      body: BookingForm,
      answers: { 200: HtmlPage },
      extension: true,
      // A token in the form makes a repeated request safe.
      repeatable: false,
    },
    (request, reply) => submitBooking(site, request, reply),
  )

  operation(
    app,
    {
      method: 'GET',
      path: '/:slug/slots',
      scope: 'open',
      summary: 'List the free times of a booking page',
      params: SlugParams,
      query: SlotsQuery,
      answers: { 200: List(SlotView) },
      extension: true,
    },
    async ({ params, query }, reply) => {
      const { workspace_id, page } = await openPage(site, params.slug)
      const now_ms = site.clock.now()
      const window = { ...rangeOf(query, now_ms), now_ms }
      const slots = await site.reading((handle) => offeredSlots(handle, workspace_id, page, window))
      reply.headers(page_headers)
      return list(slots, slots.length, { page: 1, per_page: Math.max(1, slots.length) })
    },
  )
}

async function openPage({ reading }: Site, slug: string): Promise<Found> {
  const found = isSlug(slug) ? await reading((handle) => findPublicPage(handle, slug)) : null
  if (!found) throw notFound('This booking page')
  return found
}

type PageRequest = FastifyRequest<{ Params: Static<typeof SlugParams> }>

async function showPage(site: Site, request: PageRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { slug } = request.params
  const found = await openPage(site, slug)
  const { workspace_id, page } = found
  const asked = askedOf(request)
  const place = placeOf(request, pagePath(slug), page.time_zone, asked.zone)
  const now_ms = site.clock.now()
  return site.reading(async (handle) => {
    const start_at = timeOfAddress(asked.slot)
    if (start_at && (await isOffered(handle, workspace_id, page, Date.parse(start_at), now_ms))) {
      const form = { token: formToken(), typed: {}, slot: slotAt(start_at, page) }
      return site.show(reply, detailsScreen(page, place, form))
    }
    const choices = await readChoices(offersOf(handle, found, now_ms), place.reader, asked, { now_ms, page })
    const gone = asked.slot === undefined ? null : 'This time is no longer free. Choose another one.'
    return site.show(reply, chooseScreen(page, place, choices, gone))
  })
}

type BookingRequest = PageRequest & { body: Static<typeof BookingForm> }

/** Books the time of a form, or shows the form again with the reason. */
async function submitBooking(
  site: Site,
  request: BookingRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { body } = request
  const { slug } = request.params
  const found = await openPage(site, slug)
  const { page } = found
  const typed = typedOf(body)
  const token = formToken(body.token)
  const place = placeOf(request, pagePath(slug), page.time_zone, typed.zone)
  const details = { token, typed }
  const problems = bodyProblems(body).map(withoutTime)
  if (problems.length) {
    const chosen = !problems.some(({ field }) => field === 'slot')
    const others = chosen ? [] : await otherSlots(site, found, null)
    const slot = chosen ? slotAt(body.slot, page) : null
    return site.show(reply, detailsScreen(page, place, { ...details, problems, slot, others }))
  }
  const outcome = await book({ ...site, request_id: request.id }, slug, bookingOf(site, request, page, token))
  if ('token' in outcome) {
    const query = new URLSearchParams({ zone: place.reader.zone })
    return reply.headers(page_headers).redirect(`${linkPath(slug, outcome.token)}?${query}`, 303)
  }
  const { refused } = outcome
  if (refused === 'limited') return refuseForNow(site, request, reply, outcome.retry_after_seconds, page)
  if (refused === 'closed') throw notFound('This booking page')
  // The page may have changed since it was read above.
  const now = await openPage(site, slug)
  const refusal =
    refused === 'changed'
      ? { slot: slotAt(body.slot, now.page) }
      : { slot: null, others: await otherSlots(site, now, body.slot) }
  return site.show(reply, detailsScreen(now.page, place, { ...details, ...refusal, hitch: refused }))
}

/** The booking that a valid form asks for. */
function bookingOf({ seal }: Site, { body, ip, socket }: BookingRequest, { id }: BookingPage, token: string) {
  const { slot, first_name, last_name, email, phone = null, message = null, duration } = body
  return {
    start_at: slot,
    minutes: lengthSeen(duration),
    token,
    visitor: { first_name, last_name, email: emailForm(email), phone, message },
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
  return show(reply.headers(headers), limitedScreen(page, seconds))
}

// A visitor with an invalid time must choose one, whatever is wrong with it.
const withoutTime = (problem: FieldProblem): FieldProblem =>
  problem.field === 'slot' ? { ...problem, code: 'required' } : problem
