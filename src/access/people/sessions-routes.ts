import { isoTime } from '../../clock.ts'
import { notFound } from '../../errors.ts'
import { any_session } from '../../http/auth.ts'
import { Deleted, deleted, List, list, paging } from '../../http/envelope.ts'
import { refuseMatch } from '../../http/etag.ts'
import { ListQuery } from '../../http/fields.ts'
import { operation } from '../../http/operation.ts'
import type { App } from '../../http/server.ts'
import type { Service } from '../../http/service.ts'
import { noCookie } from './cookie.ts'
import { Session, SessionParams } from './schema.ts'
import { ownSession } from './session-view.ts'
import { endSession, isSessionOf, listSessions } from './sessions.ts'

const path = '/api/v1/sessions'

/** The own sessions of a person: a list, and ending each of them. */
export function sessionsRoutes(app: App, { db, clock, write }: Service): void {
  operation(
    app,
    {
      method: 'GET',
      path,
      scope: any_session,
      summary: 'List the own sessions, the newest first',
      query: ListQuery({}),
      answers: { 200: List(Session) },
      extension: true,
    },
    async (request) => {
      const { session_id, user_id } = ownSession(request)
      const page = paging(request.query)
      const { sessions, total } = await listSessions(db, user_id, isoTime(clock.now()), page)
      const shown = sessions.map((session) => ({ ...session, current: session.id === session_id }))
      return list(shown, total, page)
    },
  )

  operation(
    app,
    {
      method: 'DELETE',
      path: `${path}/:session_id`,
      scope: any_session,
      summary: 'End one of the own sessions',
      params: SessionParams,
      answers: { 200: Deleted },
      extension: true,
      guarded: true,
    },
    (request, reply) =>
      write(request, reply, async (tx, context) => {
        const own = ownSession(request)
        const { session_id } = request.params
        if (!(await isSessionOf(tx, own.user_id, session_id))) throw notFound('This session')
        refuseMatch(request)
        await endSession(tx, context, session_id, 'ended')
        const body = deleted('The session')
        return session_id === own.session_id ? { body, set_cookie: noCookie(request) } : { body }
      }),
  )
}
