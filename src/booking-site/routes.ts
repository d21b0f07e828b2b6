import { notFound } from '../errors.ts'
import { operation } from '../http/operation.ts'
import { type App, answerBadPaths } from '../http/server.ts'
import type { Service } from '../http/service.ts'
import { SlotsQuery } from '../resources/booking-pages/schema.ts'
import { assetRoute } from './assets.ts'
import { answerErrors, errorScreen, limitAddresses, wantsJson } from './errors.ts'
import { BookingForm, parseForms } from './form.ts'
import { documentOf, HtmlPage, headersFor } from './html.ts'
import { linkRoutes } from './link-routes.ts'
import { isFramed, listSlots, SlotList, SlugParams, showBooked, showPage, submitBooking } from './pages.ts'
import { languageOf } from './texts.ts'
import { localeOfRequest, type Show, type Site } from './visitor.ts'

/** The public pages below /book. Visitors choose a free time, book it, and cancel or move it by their link. */
export async function publicBooking(root: App, service: Service): Promise<void> {
  await root.register(
    async (scope) => {
      const app = scope as unknown as App
      const assets = assetRoute(app)
      const show: Show = (reply, screen) => {
        const { request } = reply
        const { origins = [] } = screen
        // In a frame of the web app, as a preview, no script may run.
        const js = isFramed(request) && !origins.length ? null : assets.js
        return reply
          .code(screen.status ?? 200)
          .headers(headersFor(origins))
          .type('text/html; charset=utf-8')
          .send(documentOf(screen, languageOf(localeOfRequest(request)), { ...assets, js }))
      }
      answerBadPaths(root, (error, request, reply) => {
        if (!request.url.startsWith('/book/') || wantsJson(request)) return false
        show(reply, errorScreen(error.statusCode, request))
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
      // A token in the form makes a repeated request safe.
      repeatable: false,
    },
    (request, reply) => submitBooking(site, request, reply),
  )

  operation(
    app,
    {
      method: 'GET',
      path: '/:slug/booked',
      scope: 'open',
      summary: 'End of a booking in a frame: opens the private page in a new window',
      params: SlugParams,
      answers: { 200: HtmlPage },
      // The query holds the token of the private link.
      unlogged: true,
    },
    (request, reply) => showBooked(site, request, reply),
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
      answers: { 200: SlotList },
    },
    (request, reply) => listSlots(site, request, reply),
  )
}
