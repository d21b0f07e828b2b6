import type { FastifyRequest } from 'fastify'
import { invalid } from '../../errors.ts'
import { any_session } from '../../http/auth.ts'
import { Single, single } from '../../http/envelope.ts'
import { decodeCursor, encodeCursor } from '../../http/lists.ts'
import { operation } from '../../http/operation.ts'
import type { App } from '../../http/server.ts'
import type { Service } from '../../http/service.ts'
import {
  countUnread,
  listNotifications,
  markRead,
  type Position,
  type Reader,
  shownNotifications,
} from './queries.ts'
import { NotificationList, NotificationsQuery, ReadAnswer, ReadBody } from './schema.ts'

const path = '/api/v1/notifications'
const order = 'notifications'

/** The notifications of the person who is signed in, and marking them as read. */
export function notificationRoutes(app: App, { db, rights, resources, write }: Service): void {
  const readerOf = ({ access }: FastifyRequest): Reader => ({
    workspace_id: access.workspace_id,
    user_id: String(access.actor.id),
    kinds: rights.readableKinds(access.scopes),
  })

  operation(
    app,
    {
      method: 'GET',
      path,
      scope: any_session,
      summary: 'List the own notifications',
      description:
        'Newest first, with a cursor only. Notifications of kinds that your role may not read are left out.',
      query: NotificationsQuery,
      answers: { 200: NotificationList },
    },
    async (request) => {
      const { cursor, unread: wanted } = request.query
      const per_page = Math.min(request.query.per_page, 100)
      const after = decodeCursor(order, cursor, ['string', 'number']) as Position | null
      const reader = readerOf(request)
      const unread = await countUnread(db, reader)
      const limit = per_page + 1
      const found = await listNotifications(db, reader, {
        unread: wanted === undefined ? null : wanted === 'true',
        after,
        limit,
      })
      const rows = found.slice(0, per_page)
      const last = rows.at(-1)
      const has_more = found.length === limit && last !== undefined
      const next_cursor = has_more ? encodeCursor(order, [last.occurred_at, last.id]) : null
      const data = await shownNotifications(db, reader.workspace_id, resources, rows)
      return { success: true as const, data, meta: { per_page, next_cursor, unread } }
    },
  )

  operation(
    app,
    {
      method: 'POST',
      path: `${path}/read`,
      id: 'readNotifications',
      scope: any_session,
      summary: 'Mark own notifications as read',
      description: 'Either `ids`, or `all`. The audit log has no entry of it.',
      body: ReadBody,
      answers: { 200: Single(ReadAnswer) },
      repeatable: true,
    },
    (request, reply) =>
      write(request, reply, async (tx, { now }, problems) => {
        const { ids, all, before } = request.body
        if (problems.length) throw invalid(problems)
        if (Boolean(ids) === Boolean(all))
          throw invalid([
            {
              field: 'ids',
              code: 'required',
              message: 'ids is required, unless all is true. Send one of them.',
            },
          ])
        const reader = readerOf(request)
        const read = await markRead(tx, reader, now, ids ? { ids } : { before })
        if (read) tx.announce('changes')
        return { body: single({ read, unread: await countUnread(tx, reader) }) }
      }),
  )
}
