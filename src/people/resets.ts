import { type Clock, isoTime } from '../clock.ts'
import { type Db, transaction } from '../db/db.ts'
import { recordChange } from '../events/audit.ts'
import { type Actor, contextOf } from '../events/context.ts'
import { workspacesOf } from './memberships.ts'
import { newToken } from './tokens.ts'
import { userByEmail } from './users.ts'

/** How long a link for a new password can be used. */
export const reset_ms = 24 * 3600 * 1000

/** Makes a link's token for a new password of whoever has this e-mail, in place of an older one; null for nobody. */
export function makeResetToken(db: Db, clock: Clock, actor: Actor, email: string): Promise<string | null> {
  return transaction(db, async (tx) => {
    const user = await userByEmail(tx, email)
    if (!user) return null
    const { token, hash: reset_hash } = newToken()
    await tx
      .updateTable('users')
      .set({ reset_hash, reset_expires_at: isoTime(clock.now() + reset_ms) })
      .where('id', '=', user.id)
      .execute()
    // Told where the person can be met: in every one of the workspaces.
    for (const { id } of await workspacesOf(tx, user.id))
      await recordChange(tx, contextOf(clock, { workspace_id: id, actor, request_id: null }), {
        ...{ action: 'reset_link_made', kind: 'users', record_id: user.id },
      })
    return token
  })
}

/** The person of a link that can still be used. */
export const userOfReset = (db: Db, clock: Clock, hash: string) =>
  db
    .selectFrom('users')
    .select(['id', 'email'])
    .where('reset_hash', '=', hash)
    .where('reset_expires_at', '>', isoTime(clock.now()))
    .executeTakeFirst()
