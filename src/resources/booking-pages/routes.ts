import type { Static } from 'typebox'
import { type FieldProblem, invalid } from '../../errors.ts'
import { List, list } from '../../http/envelope.ts'
import { IdParams } from '../../http/fields.ts'
import { operation } from '../../http/operation.ts'
import type { App } from '../../http/server.ts'
import type { Service } from '../../http/service.ts'
import { listRoute, recordRoutes, restoreRoute } from '../endpoints/routes.ts'
import { listRecords } from '../lists/list.ts'
import type { Room } from '../room.ts'
import { existing } from '../writing/operations.ts'
import { explainSlots } from './explain.ts'
import {
  bookingPageRecords,
  changeBookingPage,
  createArchivedPage,
  createBookingPage,
  deleteBookingPage,
  max_pages,
  restoreBookingPage,
} from './operations.ts'
import { booking_pages } from './resource.ts'
import {
  BookingPage,
  BookingPageCreate,
  BookingPageUpdate,
  ListedBookingPage,
  PageSlotsQuery,
  pageWith,
  SlotOfPage,
} from './schema.ts'
import { offeredSlots } from './slots.ts'

/** The booking pages: an extension of the interface, without events, because the catalogue has none. */
export const bookingPageRoom: Room = {
  ...bookingPageRecords,
  archived: {
    operations: {
      create: createArchivedPage,
      change: changeBookingPage,
      remove: deleteBookingPage,
      restore: restoreBookingPage,
    },
    batch: { create: BookingPageCreate, update: BookingPageUpdate, match: [] },
  },
  routes,
}

function routes(app: App, service: Service): void {
  listRoute(app, service, booking_pages, {
    filters: {},
    view: ListedBookingPage,
    list: (db, asked) => listRecords(db, booking_pages, asked, bookingPageRecords.listed),
  })
  recordRoutes(
    app,
    service,
    bookingPageRecords,
    {
      view: BookingPage,
      create: BookingPageCreate,
      update: BookingPageUpdate,
      descriptions: {
        create: `409 above ${max_pages} booking pages of the workspace. Pages in the trash do not count.`,
        update:
          'Only the fields that are sent change. availability and date_overrides are replaced as a whole. Booked appointments stay.',
      },
    },
    {
      create: createBookingPage,
      change: changeBookingPage,
      remove: deleteBookingPage,
    },
  )
  slotsRoute(app, service)
  restoreRoute(app, service, booking_pages, BookingPage, restoreBookingPage)
}

function slotsRoute(app: App, { reading, clock }: Service): void {
  operation(
    app,
    {
      method: 'GET',
      path: `${booking_pages.path}/:id/slots`,
      scope: 'booking_pages:read',
      summary: 'List the free slots of a booking page',
      description:
        'In order of time, on one page. An inactive booking page shows the slots that it would offer. With explain=true: why each start within opening hours is free or not.',
      params: IdParams,
      query: PageSlotsQuery,
      answers: { 200: List(SlotOfPage) },
    },
    async ({ access, params, query }) => {
      const { workspace_id } = access
      const now_ms = clock.now()
      const slots = await reading(async (db): Promise<Static<typeof SlotOfPage>[]> => {
        const found = await existing(db, bookingPageRecords, workspace_id, params.id)
        const page = pageOf(found, query.duration)
        if (query.explain === 'true') {
          const shows_records = access.scopes?.includes('appointments:read') ?? true
          const window = query.at
            ? { at_ms: Date.parse(query.at) }
            : rangeOf(query, now_ms, max_explained_days)
          return explainSlots(db, workspace_id, page, { window, now_ms, shows_records })
        }
        if (query.at) throw invalid([{ field: 'at', code: 'not_allowed', message: 'at needs explain=true.' }])
        return offeredSlots(db, workspace_id, page, { ...rangeOf(query, now_ms), now_ms })
      })
      return list(slots, slots.length, { page: 1, per_page: Math.max(1, slots.length) })
    },
  )
}

/** The page with the duration that a query asks for. 422 if the page does not offer it. */
export function pageOf(page: BookingPage, duration: string | undefined): BookingPage {
  const found = duration === undefined ? page : pageWith(page, Number(duration))
  if (found) return found
  const message = 'duration must be one of the durations of the booking page.'
  throw invalid([{ field: 'duration', code: 'unknown_value', message }])
}

const day_ms = 86_400_000
const max_days = 62
const max_explained_days = 14

/** The range of time that a query asks for, in milliseconds since 1970. 422 for an empty range, or over `max` days. */
export function rangeOf(query: { from?: string; to?: string }, now_ms: number, max = max_days) {
  const from_ms = query.from ? Date.parse(query.from) : now_ms
  const to_ms = query.to ? Date.parse(query.to) : from_ms + 7 * day_ms
  const problems = rangeProblems(from_ms, to_ms, max)
  if (problems.length) throw invalid(problems)
  return { from_ms, to_ms }
}

function rangeProblems(from_ms: number, to_ms: number, max: number): FieldProblem[] {
  const problem = (text: string): FieldProblem[] => [
    { field: 'to', code: 'out_of_range', message: `to must be ${text}.` },
  ]
  if (to_ms <= from_ms) return problem('after from')
  if (to_ms - from_ms > max * day_ms) return problem(`at most ${max} days after from`)
  return []
}
