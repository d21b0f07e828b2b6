import { isoTime } from '../../clock.ts'
import type { Db } from '../../db/db.ts'
import { recordChange } from '../../events/audit.ts'
import { any_session } from '../../http/auth.ts'
import { Deleted, deleted, List, list, paging } from '../../http/envelope.ts'
import { notFound } from '../../http/errors.ts'
import { refuseMatch } from '../../http/etag.ts'
import { ListQuery } from '../../http/fields.ts'
import type { App } from '../../http/server.ts'
import type { Service } from '../../http/service.ts'
import { noCookie } from './cookie.ts'
import { Session, SessionParams } from './schema.ts'

const path = '/api/v1/sessions'

const columns = ['id', 'created_at', 'last_used_at', 'expires_at', 'user_agent', 'address'] as const
const sessionsOf = (db: Db, user_id: string | null) =>
  db.selectFrom('sessions').where('user_id', '=', String(user_id))

/** Where a person is signed in: to look at, and to end from afar. */
export function sessionsRoutes(app: App, { db, clock, write }: Service): void {
  app.get(
    path,
    {
      config: { scope: any_session },
      schema: {
        'x-extension': true,
        summary: 'List the own sessions, the newest first',
        querystring: ListQuery({}),
        response: { 200: List(Session) },
      },
    },
    async (request) => {
      const { id, actor } = request.access
      const { page, per_page, offset } = paging(request.query)
      const live = sessionsOf(db, actor.id).where('expires_at', '>', isoTime(clock.now()))
      const rows = await live.select(columns).orderBy('id', 'desc').limit(per_page).offset(offset).execute()
      const { n } = await live.select((eb) => eb.fn.countAll<number>().as('n')).executeTakeFirstOrThrow()
      const sessions = rows.map((row) => ({ ...row, current: row.id === id }))
      return list(sessions, Number(n), { page, per_page })
    },
  )

  app.delete(
    `${path}/:session_id`,
    {
      config: { scope: any_session },
      schema: {
        'x-extension': true,
        summary: 'End one of the own sessions',
        params: SessionParams,
        response: { 200: Deleted },
      },
    },
    (request, reply) =>
      write(request, reply, async (tx, context) => {
        const { id, actor } = request.access
        const { session_id } = request.params
        const own = sessionsOf(tx, actor.id).select('id').where('id', '=', session_id)
        if (!(await own.executeTakeFirst())) throw notFound('This session')
        refuseMatch(request)
        await tx.deleteFrom('sessions').where('id', '=', session_id).execute()
        await recordChange(tx, context, { action: 'ended', kind: 'sessions', record_id: session_id })
        return { body: deleted('The session'), ...(session_id === id && { set_cookie: noCookie(request) }) }
      }),
  )
}
