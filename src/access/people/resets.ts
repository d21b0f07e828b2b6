import { type Clock, isoTime } from '../../clock.ts'
import { type Db, type Tx, transaction } from '../../db/db.ts'
import { lockEntry } from '../../db/locks.ts'
import type { Actor } from '../../events/context.ts'
import { accountByEmailOrId, auditPerson, lastWorkspace } from './memberships.ts'
import { endSessions } from './sessions.ts'
import { type MemberRef, personContext } from './sign-in.ts'
import { badToken, newToken } from './tokens.ts'
import { setPassword } from './users.ts'

/** How long a link for a new password can be used. */
const reset_ms = 24 * 3600 * 1000

/** Makes the token of a reset link for the account with this e-mail or id. An older link ends. Null if there is no account. */
export function makeResetToken(db: Db, clock: Clock, actor: Actor, who: string): Promise<string | null> {
  return transaction(db, async (tx) => {
    const user = await accountByEmailOrId(tx, who)
    if (!user) return null
    const { token, hash: reset_hash } = newToken()
    const now_ms = clock.now()
    await tx
      .updateTable('users')
      .set({ reset_hash, reset_expires_at: isoTime(now_ms + reset_ms) })
      .where('id', '=', user.id)
      .execute()
    const context = { actor, request_id: null, now: isoTime(now_ms), now_ms, elapsed: clock.elapsed }
    await auditPerson(tx, context, user.id, { action: 'reset_link_made' })
    return token
  })
}

/** The person of a reset link, by the hash of its token, and whether the link is valid. */
export async function userOfReset(db: Db, clock: Clock, hash: string) {
  const row = await db
    .selectFrom('users')
    .select(['id', 'email', 'reset_expires_at'])
    .where('reset_hash', '=', hash)
    .executeTakeFirst()
  const found = row ?? (await userOfMail(db, hash))
  return found
    ? { id: found.id, email: found.email, open: String(found.reset_expires_at) > isoTime(clock.now()) }
    : null
}

/** The same for a link of a mail. */
const userOfMail = (db: Db, hash: string) =>
  db
    .selectFrom('reset_links as l')
    .innerJoin('users as u', 'u.id', 'l.user_id')
    .select(['u.id', 'u.email', 'l.expires_at as reset_expires_at'])
    .where('l.hash', '=', hash)
    .executeTakeFirst()

/**
 * Sets the new password of a person, whose sessions all end. `hash` is that of the token of the link. Throws 422 if the
 * link was used or replaced.
 */
export async function resetPassword(
  tx: Tx,
  { clock, request_id, hash }: { clock: Clock; request_id: string; hash: string },
  user_id: string,
  password_hash: string,
): Promise<MemberRef> {
  await lockEntry(tx, 'users', user_id)
  if (!(await userOfReset(tx, clock, hash))?.open) throw badToken()
  const member = { workspace_id: await lastWorkspace(tx, user_id), user_id }
  await setPassword(tx, isoTime(clock.now()), user_id, password_hash)
  await endSessions(tx, user_id)
  const context = personContext(clock, member, request_id)
  await auditPerson(tx, context, user_id, { action: 'password_reset' })
  return member
}
