import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../../clock.ts'
import { type Db, type Tx, transaction } from '../../db/db.ts'
import { hashToken } from '../../db/token-hash.ts'
import { forbidden } from '../../errors.ts'
import { type Context, contextOf } from '../../events/context.ts'
import { sessionToken } from '../../http/auth.ts'
import { single } from '../../http/envelope.ts'
import { cookieOf, deviceOf } from './cookie.ts'
import type { KnownBrowsers } from './known-browsers.ts'
import type { RoleScopes } from './roles.ts'
import { signedIn } from './session-view.ts'
import { startSession } from './sessions.ts'
import { findUser } from './users.ts'

export type SignIn = ReturnType<typeof createSignIn>
/** The workspace and the person of a new session. */
export type MemberRef = { workspace_id: number; user_id: string }

/** The context of a change by a person who has no session yet. */
export const personContext = (
  clock: Clock,
  { workspace_id, user_id }: MemberRef,
  request_id: string,
): Context => contextOf(clock, { workspace_id, actor: { kind: 'person', id: user_id }, request_id })

type Deps = { db: Db; clock: Clock; role_scopes: RoleScopes; browsers: KnownBrowsers }

/**
 * Signs a person in: the work and the new session are one transaction. The session of the cookie in the request ends, so
 * that a cookie which somebody else has set is useless. The account knows the browser afterwards.
 */
export function createSignIn({ db, clock, role_scopes, browsers }: Deps) {
  return async (
    request: FastifyRequest,
    reply: FastifyReply,
    work: (tx: Tx) => Promise<MemberRef>,
  ): Promise<never> => {
    const { token, body, user } = await transaction(db, async (tx) => {
      const member = await work(tx)
      const before = sessionToken(request)
      if (before) await tx.deleteFrom('sessions').where('hash', '=', hashToken(before)).execute()
      const context = personContext(clock, member, request.id)
      const { id, token } = await startSession(tx, context, member.user_id, deviceOf(request))
      const body = await signedIn(tx, { ...member, session_id: id }, role_scopes, clock.now())
      const user = await findUser(tx, member.user_id)
      if (!body || !user) throw forbidden('You are not a member of this workspace. Ask for an invitation.')
      return { token, body, user }
    })
    const cookies = [cookieOf(request, token), browsers.cookieFor(request, user)]
    return reply.header('set-cookie', cookies).send(single(body)) as never
  }
}
