import type { Db } from '../../db/db.ts'
import { lockEntry, lockRow } from '../../db/locks.ts'
import { factsOf, recordChange, sidesOf } from '../../events/audit.ts'
import { changesBetween } from '../../events/changes.ts'
import { List, list, Single } from '../../http/envelope.ts'
import { blaming, type FieldProblem, invalid } from '../../http/errors.ts'
import { checkMatch } from '../../http/etag.ts'
import { IdParams } from '../../http/fields.ts'
import { refuseMore } from '../../http/limits.ts'
import { dateFilters, listAnswer, listingOf, RecordsQuery } from '../../http/lists.ts'
import { changesOf } from '../../http/patch.ts'
import { orNotFound, recordRoutes } from '../../http/records.ts'
import type { App } from '../../http/server.ts'
import type { Service } from '../../http/service.ts'
import { canonicalTimeZone, ruleProblems } from './availability.ts'
import { listBookingPages, orders } from './list.ts'
import {
  countBookingPages,
  findBookingPage,
  insertBookingPage,
  slugTaken,
  updateBookingPage,
} from './queries.ts'
import {
  BookingPage,
  BookingPageCreate,
  BookingPageUpdate,
  ListedBookingPage,
  type PageFields,
  page_defaults,
  page_fields,
  Slot,
  SlotsQuery,
} from './schema.ts'
import { offeredSlots } from './slots.ts'

const path = '/api/v1/booking-pages'
const extension = { 'x-extension': true }
const entry = { kind: 'booking_pages' } as const
const day_ms = 86_400_000
const longest_days = 62
const most_pages = 100

/** The booking pages: an extension of the interface, without events, because the catalogue has none. */
export function bookingPageRoutes(app: App, { db, reading, write, clock }: Service): void {
  const writing = { config: { scope: 'booking_pages:write' } }
  const existing = async (handle: Db, workspace_id: number, id: number) =>
    orNotFound('booking page', await findBookingPage(handle, workspace_id, id))

  app.get(
    path,
    {
      config: { scope: 'booking_pages:read' },
      schema: {
        ...extension,
        summary: 'List booking pages',
        querystring: RecordsQuery(orders, {}),
        response: { 200: List(ListedBookingPage) },
      },
    },
    async ({ access, query }) => {
      const listing = listingOf(query, 'booking_pages', orders)
      const { pages, ...found } = await reading((handle) =>
        listBookingPages(handle, access.workspace_id, dateFilters(query), listing.page, listing.sorting),
      )
      return listAnswer(pages, found, listing)
    },
  )

  app.post(
    path,
    {
      ...writing,
      schema: {
        ...extension,
        summary: 'Create a booking page',
        description: `A workspace has at most ${most_pages}; beyond, 409. Those in the trash do not count.`,
        body: BookingPageCreate,
        response: { 201: Single(BookingPage) },
      },
    },
    (request, reply) =>
      write(request, reply, async (tx, context, problems) => {
        const { workspace_id } = context
        const body = tidied(request.body)
        const wrong = [
          ...problems,
          ...ruleProblems(body),
          ...(await slugProblems(tx, body.slug, null, problems)),
        ]
        if (wrong.length) throw invalid(wrong)
        await holdPlace(tx, workspace_id)
        const fields = { ...page_defaults, ...body } as PageFields
        const id = await blaming('booking_pages_slug', taken, () => insertBookingPage(tx, context, fields))
        const record = await existing(tx, workspace_id, id)
        await recordChange(tx, context, {
          ...{ ...entry, action: 'created', record_id: id },
          after: factsOf(record),
        })
        return { record, location: `${path}/${id}` }
      }),
  )

  app.route({
    method: ['PUT', 'PATCH'],
    url: `${path}/:id`,
    ...writing,
    schema: {
      ...extension,
      summary: 'Change a booking page',
      description:
        'Only the fields that are sent change; availability and date_overrides are replaced as a whole. What is booked already stays.',
      params: IdParams,
      body: BookingPageUpdate,
      response: { 200: Single(BookingPage) },
    },
    handler: (request, reply) =>
      write(request, reply, async (tx, context, problems) => {
        const { workspace_id } = context
        const { id } = request.params
        await lockRow(tx, 'booking_pages', workspace_id, id)
        const before = await existing(tx, workspace_id, id)
        checkMatch(request, before)
        const changes = changesOf(tidied(request.body), before, page_fields)
        const wrong = [
          ...problems,
          ...ruleProblems(changes),
          ...(await slugProblems(tx, changes.slug, id, problems)),
        ]
        if (wrong.length) throw invalid(wrong)
        if (!Object.keys(changes).length) return { record: before }
        await blaming('booking_pages_slug', taken, () => updateBookingPage(tx, context, id, changes))
        const record = await existing(tx, workspace_id, id)
        const told = changesBetween(before, record, page_fields)
        const updated = { ...entry, action: 'updated', record_id: id }
        if (told) await recordChange(tx, context, { ...updated, ...sidesOf(told, record) })
        return { record }
      }),
  })

  app.get(
    `${path}/:id/slots`,
    {
      config: { scope: 'booking_pages:read' },
      schema: {
        ...extension,
        summary: 'List the free slots of a booking page',
        description:
          'In order of time, on one page. A page that is not active shows what it would offer to visitors.',
        params: IdParams,
        querystring: SlotsQuery,
        response: { 200: List(Slot) },
      },
    },
    async (request) => {
      const { workspace_id } = request.access
      const now = clock.now()
      const slots = await reading(async (handle) => {
        const page = await existing(handle, workspace_id, request.params.id)
        return offeredSlots(handle, workspace_id, page, { ...rangeOf(request.query, now), now_ms: now })
      })
      return list(slots, slots.length, { page: 1, per_page: Math.max(1, slots.length) })
    },
  )

  recordRoutes(
    app,
    { db, write },
    {
      ...{ path, table: 'booking_pages', noun: 'booking page', extension: true },
      ...{ view: BookingPage, find: findBookingPage, counted: [] },
      async holdToRestore(tx, workspace_id, id) {
        if (!(await findBookingPage(tx, workspace_id, id))) await holdPlace(tx, workspace_id)
      },
    },
  )
}

/** Keeps the number of pages for this transaction; 409 when there is no place for one more. */
async function holdPlace(tx: Db, workspace_id: number): Promise<void> {
  await lockEntry(tx, 'workspaces', workspace_id)
  const limit = `A workspace has at most ${most_pages} booking pages`
  refuseMore(await countBookingPages(tx, workspace_id), most_pages, limit, 'Delete one first.')
}

type Sent = { [Name in keyof PageFields]?: PageFields[Name] | null }

/** A body as it will be stored: null as the default, the zone in its usual capitals. */
function tidied(body: Sent): Partial<PageFields> {
  // Read-only fields of the body are not among them.
  const fields: Sent = Object.fromEntries(page_fields.map((name) => [name, body[name]]))
  for (const name of page_fields) if (fields[name] === undefined) delete fields[name]
  for (const [name, value] of Object.entries(page_defaults))
    if (fields[name as keyof typeof page_defaults] === null) Object.assign(fields, { [name]: value })
  const time_zone = canonicalTimeZone(body.time_zone)
  return { ...fields, ...(time_zone && { time_zone }) } as Partial<PageFields>
}

const taken = { field: 'slug', code: 'taken', message: 'slug is taken by another booking page.' }

// Told with every other problem; of two that want one slug at the same moment, the database refuses the second.
async function slugProblems(
  tx: Db,
  slug: unknown,
  except_id: number | null,
  problems: readonly FieldProblem[],
): Promise<FieldProblem[]> {
  // The database cannot even be asked for some texts that the schema refuses.
  if (typeof slug !== 'string' || problems.some(({ field }) => field === 'slug')) return []
  return (await slugTaken(tx, slug, except_id)) ? [taken] : []
}

/** The range of time of which the slots are asked for, in milliseconds since 1970; 422 when it is none or too long. */
export function rangeOf(query: { from?: string; to?: string }, now: number) {
  const from_ms = query.from ? Date.parse(query.from) : now
  const to_ms = query.to ? Date.parse(query.to) : from_ms + 7 * day_ms
  const wrong = rangeProblems(from_ms, to_ms)
  if (wrong.length) throw invalid(wrong)
  return { from_ms, to_ms }
}

function rangeProblems(from_ms: number, to_ms: number): FieldProblem[] {
  const problem = (text: string) => [{ field: 'to', code: 'out_of_range', message: `to must be ${text}.` }]
  if (to_ms <= from_ms) return problem('after from')
  if (to_ms - from_ms > longest_days * day_ms) return problem(`at most ${longest_days} days after from`)
  return []
}
