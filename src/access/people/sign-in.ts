import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../../clock.ts'
import { type Db, type Tx, transaction } from '../../db/db.ts'
import { hashToken } from '../../db/token-hash.ts'
import { forbidden } from '../../errors.ts'
import { type Context, contextOf } from '../../events/context.ts'
import { sessionToken } from '../../http/auth.ts'
import { single } from '../../http/envelope.ts'
import { countMail, day_ms } from '../../mails/limits.ts'
import { signInMail } from '../../mails/messages.ts'
import { writeMail } from '../../mails/outbox.ts'
import { languageOf } from '../../mails/texts.ts'
import { cookieOf, deviceOf } from './cookie.ts'
import type { KnownBrowsers } from './known-browsers.ts'
import type { RoleScopes } from './roles.ts'
import { signedIn } from './session-view.ts'
import { type Device, startSession } from './sessions.ts'
import { findUser, type User } from './users.ts'

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
    { tells_person = false }: { tells_person?: boolean } = {},
  ): Promise<never> => {
    const { token, body, user } = await transaction(db, async (tx) => {
      const member = await work(tx)
      const before = sessionToken(request)
      if (before) await tx.deleteFrom('sessions').where('hash', '=', hashToken(before)).execute()
      const context = personContext(clock, member, request.id)
      const device = deviceOf(request)
      const { id, token } = await startSession(tx, context, member.user_id, device)
      const body = await signedIn(tx, { ...member, session_id: id }, role_scopes, clock.now())
      const user = await findUser(tx, member.user_id)
      if (!body || !user) throw forbidden('You are not a member of this workspace. Ask for an invitation.')
      const known = await browsers.find(request, user.email)
      if (tells_person && !known.some((one) => one.user.id === user.id))
        await mailSignIn(tx, context, user, { session_id: id, device })
      return { token, body, user }
    })
    const cookies = [cookieOf(request, token), browsers.cookieFor(request, user)]
    return reply.header('set-cookie', cookies).send(single(body)) as never
  }
}

const max_notices_a_day = 5

/** Tells a person that a browser which the account does not know has signed in, at most five times a day. */
async function mailSignIn(
  tx: Tx,
  context: Context,
  { id, email, language: wanted, time_zone }: User,
  { session_id, device }: { session_id: string; device: Device },
): Promise<void> {
  const limit = { subject: `sign-in ${id}`, max: max_notices_a_day, window_ms: day_ms }
  if ((await countMail(tx, [limit], context.elapsed(), session_id)) > 0) return
  const language = languageOf(wanted)
  const reader = { language, zone: time_zone }
  const at_ms = context.now_ms
  writeMail(tx, context, {
    kind: 'new_sign_in',
    recipient: email,
    user_id: id,
    language,
    content: (base) => signInMail(reader, base, { at_ms, ...device }),
  })
}
