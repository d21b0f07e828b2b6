import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../clock.ts'
import type { Db, Reading } from '../db/db.ts'
import { canonicalTimeZone, type Slot } from './availability.ts'
import { localeOf } from './public-days.ts'
import type { Screen } from './public-html.ts'
import type { Place } from './public-screens.ts'
import type { BookingPage } from './schema.ts'
import { offeredSlots } from './slots.ts'

// What the routes of visitors share: what a request asks for, and what is offered next.

export type PublicDeps = { db: Db; reading: Reading; clock: Clock }
/** Sends a page. */
export type Show = (reply: FastifyReply, screen: Screen) => FastifyReply
/** A booking page of whichever workspace. */
export type Found = { workspace_id: number; page: BookingPage }

type Query = Record<string, unknown>
const text = (value: unknown) => (typeof value === 'string' ? value : undefined)

/** What the address of a page says about days, times and the zone. */
export const askedOf = (request: FastifyRequest) => {
  const { month, day, slot, zone } = request.query as Query
  return { month: text(month), day: text(day), slot: text(slot), zone: text(zone) }
}

/** Where a visitor is and how the visitor reads times: in the zone that was asked for, else in the page's own. */
export const placeOf = (request: FastifyRequest, path: string, own_zone: string, zone: unknown): Place => ({
  path,
  own_zone,
  reader: {
    locale: localeOf(request.headers['accept-language']),
    zone: canonicalTimeZone(zone) ?? own_zone,
  },
})

/** The next free times after one, or from now on when there is none. */
export async function nextSlots(deps: PublicDeps, page: Found, after: string | null): Promise<Slot[]> {
  const now_ms = deps.clock.now()
  const from = (from_ms: number) =>
    deps.reading((handle) =>
      offeredSlots(handle, page.workspace_id, page.page, { from_ms, to_ms: Infinity, now_ms, limit: 6 }),
    )
  const later = after === null ? [] : await from(Date.parse(after))
  return later.length ? later : from(now_ms)
}

/** The slot at a time, as a page's duration has it. */
export const slotAt = (start_at: string, { duration_minutes }: BookingPage): Slot => ({
  start_at,
  end_at: new Date(Date.parse(start_at) + duration_minutes * 60_000).toISOString(),
})

/** A time of an address as an ISO text; null when it is none. */
export function timeOfAddress(value: string | undefined): string | null {
  const ms = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value ?? '') ? Date.parse(value as string) : Number.NaN
  return Number.isNaN(ms) ? null : new Date(ms).toISOString()
}
