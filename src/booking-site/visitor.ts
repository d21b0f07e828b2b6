import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Db } from '../db/db.ts'
import type { Seal } from '../db/seal.ts'
import { subscriberOf } from '../http/client-address.ts'
import type { Service } from '../http/service.ts'
import type { Slot } from '../resources/booking-pages/availability.ts'
import type { BookingPage } from '../resources/booking-pages/schema.ts'
import { nextSlots, offeredSlots } from '../resources/booking-pages/slots.ts'
import { canonicalTimeZone, todaysName } from '../zones/names.ts'
import type { Offers } from './choose.ts'
import { localeOf } from './days.ts'
import type { Screen } from './html.ts'
import type { VisitorView } from './screens.ts'

/** Sends a page. */
export type Show = (reply: FastifyReply, screen: Screen) => FastifyReply
/** The service as the public pages use it. */
export type Site = Service & { show: Show }
/** A booking page with its workspace. */
export type WorkspacePage = { workspace_id: number; page: BookingPage }

const max_offered = 6

type Query = Record<string, unknown>
const text = (value: unknown) => (typeof value === 'string' ? value : undefined)

/** The locale of a visitor. */
export const localeOfRequest = ({ headers }: Pick<FastifyRequest, 'headers'>): string =>
  localeOf(headers['accept-language'])

/** The days, the time, the time zone and the duration in the query of a request. */
export const askedOf = (request: FastifyRequest) => {
  const { month, day, slot, zone, duration } = request.query as Query
  return {
    month: text(month),
    day: text(day),
    slot: text(slot),
    zone: text(zone),
    duration: text(duration),
  }
}

/** The path of a visitor's page, and the visitor's locale and time zone. The default zone is that of the booking page. */
export const visitorViewOf = (
  request: FastifyRequest,
  path: string,
  own_zone: string,
  zone: unknown,
): VisitorView => ({
  path,
  own_zone,
  reader: {
    locale: localeOfRequest(request),
    zone: todaysName(canonicalTimeZone(zone) ?? own_zone),
  },
})

/** The free times of a page. An appointment that moves does not block its own time, but this time is not offered. */
export function offersOf(
  handle: Db,
  { workspace_id, page }: WorkspacePage,
  now_ms: number,
  moving?: { id: number; start_at: string },
): Offers {
  const elsewhere = ({ start_at }: Slot) => start_at !== moving?.start_at
  return {
    within: async (window) =>
      (await offeredSlots(handle, workspace_id, page, { ...window, now_ms }, moving?.id)).filter(elsewhere),
    async first(from_ms) {
      const window = { from_ms, to_ms: Infinity, now_ms, limit: moving ? 2 : 1 }
      const found = await nextSlots(handle, workspace_id, page, window, moving?.id)
      return { ...found, slots: found.slots.filter(elsewhere) }
    },
  }
}

/** Up to 6 free times after a time, else from now on; without the time of the appointment that moves. */
export async function otherSlots(
  { reading, clock }: Service,
  { workspace_id, page }: WorkspacePage,
  after: string | null,
  moving?: { id: number; start_at: string },
): Promise<Slot[]> {
  const now_ms = clock.now()
  const from = async (from_ms: number) => {
    const window = { from_ms, to_ms: Infinity, now_ms, limit: max_offered + (moving ? 1 : 0) }
    const { slots } = await reading((handle) => nextSlots(handle, workspace_id, page, window, moving?.id))
    return slots.filter(({ start_at }) => start_at !== moving?.start_at).slice(0, max_offered)
  }
  const later = after === null ? [] : await from(Date.parse(after))
  return later.length ? later : from(now_ms)
}

/** The slot at a time, with the duration of the page. */
export const slotAt = (start_at: string, { duration_minutes }: BookingPage): Slot => ({
  start_at,
  end_at: new Date(Date.parse(start_at) + duration_minutes * 60_000).toISOString(),
})

/** A time of a query as an ISO text; null if it is not valid. */
export function timeOfAddress(value: string | undefined): string | null {
  const ms = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value ?? '') ? Date.parse(value as string) : Number.NaN
  return Number.isNaN(ms) ? null : new Date(ms).toISOString()
}

/** The duration that the form showed, in minutes; null if the form has none. */
export const lengthSeen = (value: unknown): number | null =>
  typeof value === 'string' && /^\d{1,4}$/.test(value) ? Number(value) : null

/** The path of a booking page, and of the private link of an appointment. */
export const pagePath = (slug: string): string => `/book/${encodeURIComponent(slug)}`
export const linkPath = (slug: string, token: string): string =>
  `${pagePath(slug)}/a/${encodeURIComponent(token)}`

/** A keyed hash of a visitor's network address, by which mails are counted. */
export const networkOf = (seal: Seal, { ip, socket }: Pick<FastifyRequest, 'ip' | 'socket'>): string =>
  seal.mac('mail-network', subscriberOf(ip, socket.remoteAddress))
