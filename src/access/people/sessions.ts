import { day_ms, isoTime } from '../../clock.ts'
import type { Db, Tx } from '../../db/db.ts'
import { newId } from '../../db/ids.ts'
import { newestRows, type Page } from '../../db/lists/lists.ts'
import { prepare } from '../../db/statements/prepare.ts'
import { recordChange } from '../../events/audit.ts'
import type { Context } from '../../events/context.ts'
import type { Access } from '../../http/auth.ts'
import { markEntered } from './memberships.ts'
import type { Role, RoleScopes } from './roles.ts'
import { newToken } from './tokens.ts'

// A session ends 30 days after its last use, and 90 days after sign-in at the latest.
const idle_ms = 30 * day_ms
export const longest_ms = 90 * day_ms

/** The browser of a session. */
export type Device = { user_agent: string | null; address: string | null }

/** Signs a person in to the context's workspace. Only the hash of the token is stored. */
export async function startSession(
  tx: Tx,
  context: Context,
  user_id: string,
  device: Device,
): Promise<{ id: string; token: string }> {
  const { workspace_id, now, now_ms } = context
  const id = newId('ses')
  const { token, hash } = newToken()
  await tx
    .insertInto('sessions')
    .values({
      id,
      hash,
      user_id,
      workspace_id,
      ...device,
      created_at: now,
      last_used_at: now,
      expires_at: isoTime(now_ms + idle_ms),
    })
    .execute()
  await markEntered(tx, context, user_id)
  recordChange(tx, context, { action: 'signed_in', kind: 'sessions', record_id: id, after: device })
  return { id, token }
}

/**
 * Moves a person's session to the context's workspace, and returns its new token. A concurrent request with the old
 * token must not write into the wrong workspace. The caller has locked the person and read the session again.
 */
export async function moveSession(tx: Tx, context: Context, id: string, user_id: string): Promise<string> {
  const { workspace_id } = context
  const { token, hash } = newToken()
  await tx.updateTable('sessions').set({ hash, workspace_id }).where('id', '=', id).execute()
  await markEntered(tx, context, user_id)
  return token
}

const liveSession = prepare(({ hash }: { hash: string }, db) =>
  db
    .selectFrom('sessions as s')
    .innerJoin('memberships as m', (join) =>
      join.onRef('m.workspace_id', '=', 's.workspace_id').onRef('m.user_id', '=', 's.user_id'),
    )
    .innerJoin('users as u', 'u.id', 's.user_id')
    .select(['s.id', 's.user_id', 's.workspace_id', 's.expires_at', 'm.role', 'u.name'])
    .where('s.hash', '=', hash),
)

/** The access of a session, by the hash of its token: the rights of the role in its workspace. Null if it has ended. */
export async function findSession(db: Db, role_scopes: RoleScopes, hash: string): Promise<Access | null> {
  const [session] = await liveSession(db, { hash })
  if (!session) return null
  const { id, user_id, name, workspace_id, expires_at } = session
  const actor = { kind: 'person', id: user_id, name } as const
  const role = session.role as Role
  return { id, actor, workspace_id, expires_at, role, scopes: role_scopes.of(role) }
}

/** One page of a person's live sessions, newest first. */
export const listSessions = (db: Db, user_id: string, now: string, page: Page) =>
  newestRows(
    db
      .selectFrom('sessions')
      .select(['id', 'created_at', 'last_used_at', 'expires_at', 'user_agent', 'address'])
      .where('user_id', '=', user_id)
      .where('expires_at', '>', now),
    'id',
    page,
  )

export async function isSessionOf(db: Db, user_id: string, id: string): Promise<boolean> {
  const own = db
    .selectFrom('sessions')
    .select('id')
    .where((eb) => eb.and({ user_id, id }))
  return (await own.executeTakeFirst()) !== undefined
}

/** Ends one session and writes the audit entry. A no-op if the session has ended. */
export async function endSession(
  tx: Tx,
  context: Context,
  id: string,
  action: 'signed_out' | 'ended',
): Promise<void> {
  const { numDeletedRows } = await tx.deleteFrom('sessions').where('id', '=', id).executeTakeFirst()
  if (numDeletedRows) recordChange(tx, context, { action, kind: 'sessions', record_id: id })
}

/** Ends sessions of a person: all of them, or those of one workspace, or all but one. */
export async function endSessions(
  tx: Tx,
  user_id: string,
  { workspace_id, but }: { workspace_id?: number; but?: string } = {},
): Promise<void> {
  let ending = tx.deleteFrom('sessions').where('user_id', '=', user_id)
  if (workspace_id !== undefined) ending = ending.where('workspace_id', '=', workspace_id)
  if (but !== undefined) ending = ending.where('id', '<>', but)
  await ending.execute()
}

/** Records the use of a session, and extends it. */
export async function recordSessionUse(tx: Tx, id: string, now_ms: number): Promise<void> {
  const session = await tx.selectFrom('sessions').select('created_at').where('id', '=', id).executeTakeFirst()
  if (!session) return
  const end_ms = Math.min(now_ms + idle_ms, Date.parse(session.created_at) + longest_ms)
  await tx
    .updateTable('sessions')
    .set({ last_used_at: isoTime(now_ms), expires_at: isoTime(end_ms) })
    .where('id', '=', id)
    .execute()
}
