import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../../clock.ts'
import { type Db, transaction } from '../../db/db.ts'
import { type Context, contextOf } from '../../events/context.ts'
import { hashToken, sessionToken } from '../../http/auth.ts'
import { single } from '../../http/envelope.ts'
import { forbidden } from '../../http/errors.ts'
import { cookieOf, deviceOf } from './cookie.ts'
import type { KnownBrowsers } from './known-browsers.ts'
import { signedIn } from './session-view.ts'
import { startSession } from './sessions.ts'
import { findUser } from './users.ts'

export type SignIn = ReturnType<typeof createSignIn>
/** Where and who: made by the work, when it knows. */
export type Entering = { workspace_id: number; user_id: string }

/** The context of a person's own doing where no session says who it is. */
export const personContext = (
  clock: Clock,
  { workspace_id, user_id }: Entering,
  request_id: string,
): Context => contextOf(clock, { workspace_id, actor: { kind: 'person', id: user_id }, request_id })

type Deps = { db: Db; clock: Clock; scopes: readonly string[]; browsers: KnownBrowsers }

/**
 * The way of every request that signs somebody in: the work and the new session are one transaction, and the session whose
 * cookie was shown before ends, so that nobody goes on with a cookie that another one has put there. From then on the account knows the browser.
 */
export function createSignIn({ db, clock, scopes, browsers }: Deps) {
  return async (
    request: FastifyRequest,
    reply: FastifyReply,
    work: (tx: Db) => Promise<Entering>,
  ): Promise<never> => {
    const { token, body, user } = await transaction(db, async (tx) => {
      const entering = await work(tx)
      const before = sessionToken(request)
      if (before) await tx.deleteFrom('sessions').where('hash', '=', hashToken(before)).execute()
      const context = personContext(clock, entering, request.id)
      const { id, token } = await startSession(tx, context, entering.user_id, deviceOf(request))
      const body = await signedIn(tx, { ...entering, session_id: id }, scopes)
      const user = await findUser(tx, entering.user_id)
      if (!body || !user) throw forbidden('You are not a member of this workspace. Ask for an invitation.')
      return { token, body, user }
    })
    const cookies = [cookieOf(request, token), browsers.cookieFor(request, user)]
    return reply.header('set-cookie', cookies).send(single(body)) as never
  }
}
