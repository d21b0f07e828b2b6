import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { subscriberOf } from '../http/client-address.ts'
import { List, list } from '../http/envelope.ts'
import { ApiError, type FieldProblem, notFound } from '../http/errors.ts'
import { type App, answerBadPaths } from '../http/server.ts'
import type { Service } from '../http/service.ts'
import { bodyProblems } from '../http/validation.ts'
import { findPublicPage } from '../resources/booking-pages/queries.ts'
import { rangeOf } from '../resources/booking-pages/routes.ts'
import { type BookingPage, isSlug, SlotsQuery, Slot as SlotView } from '../resources/booking-pages/schema.ts'
import { isOffered, offeredSlots } from '../resources/booking-pages/slots.ts'
import { assetRoute } from './assets.ts'
import { book } from './book.ts'
import { readChoices } from './choose.ts'
import { answerErrors, errorScreen, limitAddresses, wantsJson } from './errors.ts'
import { BookingForm, formToken, parseForms, typedOf } from './form.ts'
import { documentOf, page_headers } from './html.ts'
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
      // The server's first hook has told paths that exist from those that do not.
      app.setNotFoundHandler(() => {
        throw notFound('This page')
      })
      pageRoutes(app, service, show)
      linkRoutes(app, service, show)
    },
    { prefix: '/book' },
  )
}

const SlugParams = Type.Object({ slug: Type.String() })

function pageRoutes(app: App, service: Service, show: Show): void {
  const { reading, clock } = service
  const openPage = async (slug: string): Promise<Found> => {
    const found = isSlug(slug) ? await reading((handle) => findPublicPage(handle, slug)) : null
    if (!found) throw notFound('This booking page')
    return found
  }

  app.get('/:slug', { schema: { params: SlugParams } }, async (request, reply) => {
    const { slug } = request.params
    const found = await openPage(slug)
    const { workspace_id, page } = found
    const asked = askedOf(request)
    const place = placeOf(request, pagePath(slug), page.time_zone, asked.zone)
    const now_ms = clock.now()
    return reading(async (handle) => {
      const start_at = timeOfAddress(asked.slot)
      if (start_at && (await isOffered(handle, workspace_id, page, Date.parse(start_at), now_ms)))
        return show(
          reply,
          detailsScreen(page, place, { token: formToken(), typed: {}, slot: slotAt(start_at, page) }),
        )
      const offers = offersOf(handle, found, now_ms)
      const choices = await readChoices(offers, place.reader, asked, { now_ms, page })
      const gone = asked.slot === undefined ? null : 'This time is no longer free. Choose another one.'
      return show(reply, chooseScreen(page, place, choices, gone))
    })
  })

  app.post('/:slug', { schema: { params: SlugParams, body: BookingForm } }, async (request, reply) => {
    const { slug } = request.params
    const found = await openPage(slug)
    const { page } = found
    const { body } = request
    const typed = typedOf(body)
    const form_token = formToken(body.token)
    const place = placeOf(request, pagePath(slug), page.time_zone, typed.zone)
    const details = { token: form_token, typed }
    const problems = bodyProblems(body).map(oneTime)
    if (problems.length) {
      const chosen = !problems.some(({ field }) => field === 'slot')
      const others = chosen ? [] : await otherSlots(service, found, null)
      const slot = chosen ? slotAt(body.slot, page) : null
      return show(reply, detailsScreen(page, place, { ...details, problems, slot, others }))
    }
    const { slot, first_name, last_name, email, phone = null, message = null } = body
    const form = {
      ...{ start_at: slot, minutes: lengthSeen(typed.duration), token: form_token },
      visitor: { first_name, last_name, email: emailForm(email), phone, message },
      address_hash: service.seal.mac(
        'booking address',
        `${page.id} ${subscriberOf(request.ip, request.socket.remoteAddress)}`,
      ),
    }
    const outcome = await book({ ...service, request_id: request.id }, slug, form)
    if ('token' in outcome) {
      const query = new URLSearchParams({ zone: place.reader.zone })
      return reply.headers(page_headers).redirect(`${linkPath(slug, outcome.token)}?${query}`, 303)
    }
    if (outcome.refused === 'limited') return refuseForNow(request, reply, outcome.retry_after_seconds, page)
    const { refused } = outcome
    if (refused === 'closed') throw notFound('This booking page')
    // As it is now.
    const now = await openPage(slug)
    const refusal =
      refused === 'changed'
        ? { slot: slotAt(slot, now.page) }
        : { slot: null, others: await otherSlots(service, now, slot) }
    return show(reply, detailsScreen(now.page, place, { ...details, ...refusal, hitch: refused }))
  })

  function refuseForNow(request: FastifyRequest, reply: FastifyReply, seconds: number, page: BookingPage) {
    const headers = { 'retry-after': String(seconds) }
    if (wantsJson(request))
      throw new ApiError('rate_limited', `Too many bookings. Try again in ${seconds} seconds.`, { headers })
    return show(reply.headers(headers), limitedScreen(page, seconds))
  }

  app.get(
    '/:slug/slots',
    { schema: { params: SlugParams, querystring: SlotsQuery, response: { 200: List(SlotView) } } },
    async ({ params, query }, reply) => {
      const { workspace_id, page } = await openPage(params.slug)
      const now_ms = clock.now()
      const window = { ...rangeOf(query, now_ms), now_ms }
      const slots = await reading((handle) => offeredSlots(handle, workspace_id, page, window))
      reply.headers(page_headers)
      return list(slots, slots.length, { page: 1, per_page: Math.max(1, slots.length) })
    },
  )
}

// Whatever is wrong with a time, none is chosen.
const oneTime = (problem: FieldProblem): FieldProblem =>
  problem.field === 'slot' ? { ...problem, code: 'required' } : problem
