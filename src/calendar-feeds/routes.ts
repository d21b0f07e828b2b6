import { Type } from 'typebox'
import type { RoleService } from '../access/people/service.ts'
import { hashOf } from '../access/people/tokens.ts'
import { createUseRecorder } from '../access/use.ts'
import { isoTime } from '../clock.ts'
import { notFound } from '../errors.ts'
import { createAddressLimit } from '../http/address-limit.ts'
import { any_session } from '../http/auth.ts'
import { endpoints } from '../http/endpoints.ts'
import { List, list } from '../http/envelope.ts'
import { isKnown } from '../http/etag.ts'
import { operation } from '../http/operation.ts'
import type { App } from '../http/server.ts'
import type { Service } from '../http/service.ts'
import { mailingOf } from '../mails/mailing.ts'
import { readSource, writeFeed } from './entries.ts'
import { changeFeed, createFeed, deleteFeed, ownerOf } from './operations.ts'
import { findFeed, listFeeds, openFeed, recordFeedRead } from './queries.ts'
import { CalendarFeed, FeedCreate, FeedParams, FeedUpdate, max_feeds, NewCalendarFeed } from './schema.ts'

/** The calendar feeds of the person who is signed in. */
export function calendarFeedRoutes(app: App, service: Service): void {
  const { db } = service
  const path = '/api/v1/calendar-feeds'
  const feeds = endpoints(app, service, {
    path,
    params: FeedParams,
    reads: any_session,
    noun: 'calendar feed',
  })
  operation(
    app,
    {
      method: 'GET',
      path,
      scope: any_session,
      summary: 'List the own calendar feeds',
      description: 'The newest first, on one page.',
      answers: { 200: List(CalendarFeed) },
    },
    async ({ access }) => {
      const found = await listFeeds(db, ownerOf(access))
      return list(found, found.length, { page: 1, per_page: Math.max(1, found.length) })
    },
  )
  feeds.create(
    {
      summary: 'Make a calendar feed',
      description: `An address for calendar programs, shown in this answer alone. 409 above ${max_feeds} feeds of a person in a workspace.`,
      body: FeedCreate,
      view: NewCalendarFeed,
    },
    async (tx, context, sent) => {
      const { feed, url_path } = await createFeed(tx, context, sent)
      return { record: feed, shown: { ...feed, url_path, url: `${mailingOf(tx)?.base() ?? ''}${url_path}` } }
    },
  )
  feeds.read({ summary: 'Read an own calendar feed', view: CalendarFeed }, ({ access, params }) =>
    findFeed(db, ownerOf(access), params.feed_id),
  )
  feeds.change(
    { summary: 'Change an own calendar feed', body: FeedUpdate, view: CalendarFeed },
    async (tx, context, sent) => ({ record: await changeFeed(tx, context, sent) }),
  )
  feeds.remove(
    {
      summary: 'Delete an own calendar feed',
      description: 'Its address is unknown from then on, in every process.',
    },
    (tx, context, sent) => deleteFeed(tx, context, sent),
  )
}

const headers = {
  'cache-control': 'private, no-cache',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex',
}
const File = {
  description: 'The calendar as iCalendar (RFC 5545).',
  content: { 'text/calendar': { schema: { type: 'string' } } },
}

/** The calendar of a feed. Its address is the only credential. */
export async function icsRoutes(
  root: App,
  {
    db,
    reading,
    clock,
    rights,
    role_scopes,
    config,
  }: RoleService & { config: { open_rate_per_second: number } },
): Promise<void> {
  const read = createUseRecorder(db, clock, (tx, id, now_ms) => recordFeedRead(tx, id, isoTime(now_ms)))
  await root.register(async (scope) => {
    const app = scope as unknown as App
    const limit = createAddressLimit(config.open_rate_per_second, clock)
    if (limit) app.addHook('onRequest', async (request) => limit(request))
    operation(
      app,
      {
        method: 'GET',
        path: '/ics/:file',
        scope: 'open',
        id: 'readCalendarFeed',
        summary: 'Read a calendar feed',
        description:
          'The appointments whose host the person is, and the own activities if the feed has them: from 90 days ago to two years ahead, the nearest 5,000. 404 for an address that is unknown or deleted, and for a person who has left.',
        params: Type.Object({ file: Type.String({ description: 'The token, with .ics behind it.' }) }),
        answers: { 200: File },
        conditional: true,
        // The path holds the token, so the request log leaves it out.
        unlogged: true,
      },
      async (request, reply) => {
        const [, token] = /^([\w-]{43})\.ics$/.exec(request.params.file) ?? []
        const hash = hashOf(token)
        const base = mailingOf(db)?.base() ?? ''
        const found = await reading(async (at) => {
          const feed = await openFeed(at, hash)
          if (!feed) return null
          const scopes = role_scopes.of(feed.role as never)
          const mayRead = (kind: string) => rights.mayRead(scopes, kind)
          return { feed, source: await readSource(at, feed, mayRead, base, clock.now()) }
        })
        if (!token || !found) throw notFound('This calendar')
        const { feed, source } = found
        read(feed.id)
        reply.headers({ ...headers, etag: source.etag })
        if (isKnown(request, source.etag)) return reply.code(304).send()
        return reply.type('text/calendar; charset=utf-8').send(await writeFeed(feed, source, base))
      },
    )
  })
}
