import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { notFound } from '../http/errors.ts'
import type { App } from '../http/server.ts'
import type { Service } from '../http/service.ts'
import { bodyProblems } from '../http/validation.ts'
import { changesOfAppointment, findBookingPage } from '../resources/booking-pages/queries.ts'
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
} from './book.ts'
import { calendarFile } from './calendar-file.ts'
import { readChoices } from './choose.ts'
import { CancelForm, isToken, MoveForm, typedOf } from './form.ts'
import { page_headers } from './html.ts'
import {
  askedOf,
  lengthSeen,
  linkPath,
  offersOf,
  otherSlots,
  placeOf,
  type Show,
  slotAt,
  timeOfAddress,
} from './place.ts'
import { cancelScreen, linkScreen, moveScreen, movingScreen } from './screens.ts'

const params = Type.Object({ slug: Type.String(), token: Type.String() })
type Params = { slug: string; token: string }
/** An appointment with its page; null when that is in the trash, and times are shown in UTC. */
type Link = Linked & { page: BookingPage | null; path: string }

const path = '/:slug/a/:token'
// The log of requests holds their addresses, and whoever has such an address may use it.
const unlogged = { logLevel: 'warn' } as const

const refusals: Record<Closed, string> = {
  begun: 'This appointment has begun: it can no longer be moved or cancelled here.',
  past: 'This appointment is over: it can no longer be moved or cancelled here.',
  cancelled: 'It was cancelled before, so it can no longer be moved or cancelled.',
  declined: 'It was not accepted, so it can no longer be moved or cancelled.',
  closed: 'No bookings are taken at the moment, so this appointment cannot be moved. It can be cancelled.',
}

/** The private pages of an appointment, by the token in their address: nothing else proves whose it is. */
export function linkRoutes(app: App, service: Service, show: Show): void {
  const { reading, clock } = service

  const linkOf = ({ slug, token }: Params): Promise<Link> =>
    reading(async (handle) => {
      const linked = isSlug(slug) && isToken(token) ? await linkedAppointment(handle, linkHash(token)) : null
      if (!linked) throw notFound('This appointment')
      const { workspace_id, appointment } = linked
      const { booking_page_id } = appointment
      const page =
        booking_page_id === null ? null : await findBookingPage(handle, workspace_id, booking_page_id)
      return { ...linked, page, path: linkPath(page?.slug ?? slug, token) }
    })
  const place = (request: FastifyRequest, { path, page }: Link, zone: unknown) =>
    placeOf(request, path, page?.time_zone ?? 'UTC', zone)
  const privately = (reply: FastifyReply) => reply.header('x-robots-tag', 'noindex')

  /** The appointment's page, with the reason why something was not done. */
  function explain(request: FastifyRequest, reply: FastifyReply, link: Link, refused?: Closed) {
    const { appointment, page } = link
    const zone = askedOf(request).zone ?? typedOf(request.body).zone
    const text = refused ? refusals[refused] : null
    const view = { open_slug: page?.active ? page.slug : null, now_ms: clock.now(), text }
    const screen = linkScreen(appointment, place(request, link, zone), view)
    return show(privately(reply), { ...screen, ...(refused && { status: 409 }) })
  }
  const after = (reply: FastifyReply, { path }: Link, zone: string) =>
    privately(reply)
      .headers(page_headers)
      .redirect(`${path}?${new URLSearchParams({ zone })}`, 303)

  app.get(path, { ...unlogged, schema: { params } }, async (request, reply) =>
    explain(request, reply, await linkOf(request.params)),
  )

  app.get(`${path}/calendar.ics`, { ...unlogged, schema: { params } }, async (request, reply) => {
    const { workspace_id, appointment, path } = await linkOf(request.params)
    const sequence = await reading((handle) => changesOfAppointment(handle, workspace_id, appointment.id))
    const link = `${service.config.public_url ?? `${request.protocol}://${request.host}`}${path}`
    return privately(reply)
      .headers({ ...page_headers, 'content-disposition': 'attachment; filename="appointment.ics"' })
      .type('text/calendar; charset=utf-8')
      .send(calendarFile(appointment, { link, token: request.params.token, sequence }))
  })

  app.get(`${path}/cancel`, { ...unlogged, schema: { params } }, async (request, reply) => {
    const link = await linkOf(request.params)
    const refused = closedBecause(link.appointment, clock.now())
    if (refused) return explain(request, reply, link, refused)
    const { zone } = askedOf(request)
    return show(privately(reply), cancelScreen(link.appointment, place(request, link, zone)))
  })

  app.post(
    `${path}/cancel`,
    { ...unlogged, schema: { params, body: CancelForm } },
    async (request, reply) => {
      const link = await linkOf(request.params)
      const typed = typedOf(request.body)
      const where = place(request, link, typed.zone)
      const problems = bodyProblems(request.body)
      if (problems.length)
        return show(privately(reply), cancelScreen(link.appointment, where, typed, problems))
      const by = { ...service, request_id: request.id }
      const outcome = await cancelLinked(by, link, typed.reason ?? null)
      // Sent twice: it is what was asked for.
      if ('done' in outcome || outcome.refused === 'cancelled' || outcome.refused === 'declined')
        return after(reply, link, where.reader.zone)
      return explain(request, reply, link, outcome.refused)
    },
  )

  app.get(`${path}/move`, { ...unlogged, schema: { params } }, async (request, reply) => {
    const link = await linkOf(request.params)
    const { workspace_id, appointment, page } = link
    const now_ms = clock.now()
    const refused = closedBecause(appointment, now_ms) ?? (page?.active ? null : 'closed')
    if (refused || !page) return explain(request, reply, link, refused ?? 'closed')
    const asked = askedOf(request)
    const where = place(request, link, asked.zone)
    return reading(async (handle) => {
      const start_at = timeOfAddress(asked.slot)
      const { id } = appointment
      if (start_at && (await isOffered(handle, workspace_id, page, Date.parse(start_at), now_ms, id)))
        return show(
          privately(reply),
          movingScreen(appointment, page, where, { slot: slotAt(start_at, page) }),
        )
      const offers = offersOf(handle, { workspace_id, page }, now_ms, appointment)
      const choices = await readChoices(offers, where.reader, asked, { now_ms, page })
      const gone = asked.slot === undefined ? null : 'This time is no longer free. Choose another one.'
      return show(privately(reply), moveScreen(appointment, where, choices, gone))
    })
  })

  app.post(`${path}/move`, { ...unlogged, schema: { params, body: MoveForm } }, async (request, reply) => {
    const link = await linkOf(request.params)
    const { body } = request
    const where = place(request, link, typedOf(body).zone)
    const chosen = bodyProblems(body).length ? null : body.slot
    const by = { ...service, request_id: request.id }
    const outcome =
      chosen === null
        ? notChosen(link)
        : await moveLinked(by, link, { start_at: chosen, minutes: lengthSeen(typedOf(body).duration) })
    if ('done' in outcome) return after(reply, link, where.reader.zone)
    const { refused } = outcome
    const again = refused === 'none' ? link : await linkOf(request.params)
    const { workspace_id, page, appointment } = again
    if (refused !== 'none' && !isUnfit(refused)) return explain(request, reply, again, refused)
    if (!page) return explain(request, reply, again, 'closed')
    const refusal =
      refused === 'changed' && chosen !== null
        ? { slot: slotAt(chosen, page) }
        : { slot: null, others: await otherSlots(service, { workspace_id, page }, chosen, appointment) }
    return show(privately(reply), movingScreen(appointment, page, where, { ...refusal, hitch: refused }))
  })

  function notChosen({ appointment, page }: Link) {
    const refused = closedBecause(appointment, clock.now()) ?? (page?.active ? ('none' as const) : 'closed')
    return { refused }
  }
}
