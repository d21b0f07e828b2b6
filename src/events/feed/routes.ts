import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Db } from '../../db/db.ts'
import { lastSeq } from '../../db/event-order.ts'
import { page_bytes } from '../../http/answers.ts'
import { acceptedCodes } from '../../http/filter-parameters.ts'
import { payloadOfType } from '../../http/openapi/events.ts'
import { publishedSchema } from '../../http/openapi/parts.ts'
import { operation } from '../../http/operation.ts'
import type { App } from '../../http/server.ts'
import type { Service } from '../../http/service.ts'
import { measureEvents, newestSeq, readMeasured, type StoredEvent, type Wanted, wantedOf } from './queries.ts'
import { EventList, EventsQuery, EventTypeList, StreamQuery, seqOf } from './schema.ts'
import type { Streams } from './streams.ts'

const path = '/api/v1/events'
const scope = 'events:read'

/** The workspace's events in the order of their commits: to read on from a place, or to follow. */
export function feedRoutes(
  app: App,
  { db, reading, streams, catalogue, event_names, rights }: Service & { streams: Streams },
): void {
  operation(
    app,
    {
      method: 'GET',
      path,
      scope,
      summary: 'List events',
      description:
        'Oldest first after `cursor`. Each event is as webhooks get it, without `webhook_id`. Only events of kinds that the caller may read, such as `contact.*` with `contacts:read`. An answer with `has_more` may have fewer events than `per_page`, or none: it ends at 2 MiB, and a filter scans a limited number of events.',
      query: EventsQuery(event_names),
      answers: { 200: EventList },
    },
    async (request, reply) => {
      const { cursor, event, sort } = request.query
      const per_page = Math.min(request.query.per_page, 100)
      // Read this position before the events, whichever connection reads them.
      const { workspace_id, scopes } = request.access
      const newest = await newestSeq(db, workspace_id)
      const position = seqOf(cursor, await lastSeq(db))
      const wanted = wantedOf(rights, scopes, acceptedCodes('event', event_names, event) ?? null)
      const backwards = sort === '-timestamp'
      const reserve = (bytes: number) => reply.reserve(bytes)
      const query = { workspace_id, wanted, newest, position, per_page, backwards, reserve }
      const page = await reading((db) => readPage(db, query))
      reply.type('application/json; charset=utf-8')
      return reply.send(answer(page, per_page) as never)
    },
  )

  // Only the first request makes them: they are large, and few processes are asked for them.
  let types: ReturnType<typeof describeTypes> | undefined
  const describeTypes = () =>
    catalogue.map((definition) => {
      const { name, summary } = definition
      const { schema, example } = payloadOfType(definition)
      return { name, description: summary, schema: publishedSchema(schema) as typeof schema, example }
    })
  operation(
    app,
    {
      method: 'GET',
      path: '/api/v1/event-types',
      scope: 'webhooks:read',
      summary: 'List event types',
      description: 'Every event of the catalogue, with the schema and an example of the whole payload.',
      answers: { 200: EventTypeList },
    },
    () => {
      types ??= describeTypes()
      return { success: true as const, data: types }
    },
  )

  operation(
    app,
    {
      method: 'GET',
      path: `${path}/stream`,
      scope,
      summary: 'Follow events',
      description:
        'Server-sent events of kinds that the caller may read. Each has its position as `id`, its name as `event` and its text as `data`. With the header `Last-Event-ID`, the stream continues after that position, otherwise it starts now. If nothing else is sent, a comment is sent every 15 seconds.',
      query: StreamQuery(event_names),
      answers: {
        200: {
          description: 'A stream without an end.',
          content: {
            'text/event-stream': {
              schema: { type: 'string' },
              example:
                'id: 17\nevent: contact.created\ndata: {"id":"evt_0193a1b2c3d47e5f8a9b0c1d2e3f4a5b"}\n\n',
            },
          },
        },
      },
      resumable: true,
      endless: true,
    },
    async (request, reply) => {
      const { event, cursor, changes } = request.query
      const names = acceptedCodes('event', event_names, event) ?? null
      const { access, credential } = request
      const newest = await newestSeq(db, access.workspace_id)
      const place = seqOf(lastEventId(request) || cursor, await lastSeq(db)) ?? newest
      const hints = changes === 'true' ? await streams.hints(access) : null
      streams.admit(access)
      reply
        .header('content-type', 'text/event-stream')
        .header('cache-control', 'no-store')
        .header('x-accel-buffering', 'no')
      if (request.method === 'HEAD') return reply.send('') as never
      begin(reply)
      streams.open({ access, credential, scope }, reply.raw, { names, cursor: place, hints })
      return reply as never
    },
  )
  app.addHook('preClose', () => streams.close())
}

type PageQuery = {
  workspace_id: number
  wanted: Wanted
  /** The seq of the workspace's newest event. */
  newest: number
  position: number | null
  per_page: number
  backwards: boolean
  /** Called before the texts of the events are read. */
  reserve: (bytes: number) => void
}
type EventPage = { events: StoredEvent[]; next_cursor: number | null; has_more: boolean }

/**
 * A page of events after a position, whose cursor also finds later events. Or, backwards, the events before a position, to
 * the oldest stored event.
 */
async function readPage(
  db: Db,
  { workspace_id, wanted, newest, position, per_page, backwards, reserve }: PageQuery,
): Promise<EventPage> {
  const after = backwards ? 0 : (position ?? 0)
  const up_to = backwards ? Math.min(newest, (position ?? Number.POSITIVE_INFINITY) - 1) : newest
  const order = backwards ? 'desc' : 'asc'
  const range = { ...wanted, workspace_id, after, up_to }
  const measured = await measureEvents(db, range, { limit: per_page, max_bytes: page_bytes, order })
  reserve(measured.bytes)
  const { events, reached, whole } = await readMeasured(db, measured)
  if (!whole) return { events, next_cursor: reached, has_more: true }
  if (backwards) return { events, next_cursor: null, has_more: false }
  // The next page must not scan again the events that a filter has left out.
  return { events, next_cursor: Math.max(after, newest), has_more: false }
}

// Send the stored texts as they are: parsing them costs time and may change bytes.
function answer({ events, next_cursor, has_more }: EventPage, per_page: number): string {
  const cursor = next_cursor === null ? null : String(next_cursor)
  const meta = JSON.stringify({ per_page, next_cursor: cursor, has_more })
  return `{"success":true,"data":[${events.map(({ payload }) => payload).join()}],"meta":${meta}}`
}

const lastEventId = ({ headers }: FastifyRequest) => headers['last-event-id'] as string | undefined

// Take the answer from Fastify, which would wait for a whole body.
function begin(reply: FastifyReply): void {
  reply.hijack()
  reply.raw.writeHead(200, reply.getHeaders() as Record<string, string>)
}
