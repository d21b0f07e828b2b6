import { isoTime } from '../../clock.ts'
import { notFound } from '../../errors.ts'
import { any_session } from '../../http/auth.ts'
import { endpoints } from '../../http/endpoints.ts'
import { refuseMatch } from '../../http/etag.ts'
import { ListQuery } from '../../http/fields.ts'
import type { App } from '../../http/server.ts'
import type { Service } from '../../http/service.ts'
import { noCookie } from './cookie.ts'
import { Session, SessionParams } from './schema.ts'
import { ownSession } from './session-view.ts'
import { endSession, isSessionOf, listSessions } from './sessions.ts'

/** The own sessions of a person: a list, and ending each of them. */
export function sessionsRoutes(app: App, service: Service): void {
  const { db, clock } = service
  const sessions = endpoints(app, service, {
    path: '/api/v1/sessions',
    params: SessionParams,
    reads: any_session,
    noun: 'session',
  })

  sessions.list(
    { summary: 'List the own sessions, the newest first', query: ListQuery({}), view: Session },
    async (request, { page }) => {
      const { session_id, user_id } = ownSession(request)
      const { records, ...found } = await listSessions(db, user_id, isoTime(clock.now()), page)
      return {
        records: records.map((session) => ({ ...session, current: session.id === session_id })),
        ...found,
      }
    },
  )

  sessions.remove(
    { id: 'endSession', summary: 'End one of the own sessions' },
    async (tx, context, { request, params: { session_id } }) => {
      const own = ownSession(request)
      if (!(await isSessionOf(tx, own.user_id, session_id))) throw notFound('This session')
      refuseMatch(request)
      await endSession(tx, context, session_id, 'ended')
      return session_id === own.session_id ? { set_cookie: noCookie(request) } : {}
    },
  )
}
