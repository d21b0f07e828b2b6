import { type ExpressionBuilder, type SqlBool, sql } from 'kysely'
import type { Db, Tx } from '../../db/db.ts'
import { countRows } from '../../db/lists/counts.ts'
import { choice } from '../../db/lists/filters.ts'
import { type Listed, newestRows, type Page } from '../../db/lists/lists.ts'
import { lockEntry } from '../../db/locks.ts'
import type { Tables } from '../../db/tables.ts'
import { forbidden } from '../../errors.ts'
import { actorOf, namedActors } from '../../events/actors.ts'
import { recordChange } from '../../events/audit.ts'
import type { Context } from '../../events/context.ts'
import type { Wanted } from '../../http/filter-values.ts'
import { covers, type Scopes } from '../../http/scopes.ts'
import { revokeInvitationsBy } from '../people/invitations.ts'
import type { ApiKey } from './schema.ts'

const columns = [
  'id',
  'name',
  'scopes',
  'created_at',
  'expires_at',
  'last_used_at',
  'revoked_at',
  'made_by',
] as const

type Row = Omit<ApiKey, 'scopes' | 'made_by'> & { scopes: string | null; made_by: string | null }

/** Keys of a workspace as GET shows them, with the names of their makers. */
async function apiKeys(db: Db, workspace_id: number, rows: Row[]): Promise<ApiKey[]> {
  const makers = rows.flatMap(({ made_by }) => (made_by === null ? [] : actorOf(made_by)))
  const named = new Map((await namedActors(db, workspace_id, makers)).map((actor) => [actor.id, actor]))
  return rows.map(({ scopes, made_by, ...row }) => ({
    ...row,
    scopes: scopes === null ? null : JSON.parse(scopes),
    made_by: named.get(made_by) ?? null,
  }))
}

/** A key of the workspace, also if it is revoked or expired. Null if there is none. */
export async function findKey(db: Db, workspace_id: number, id: string): Promise<ApiKey | null> {
  const row = await db
    .selectFrom('api_keys')
    .select(columns)
    .where((eb) => eb.and({ workspace_id, id }))
    .executeTakeFirst()
  return row ? ((await apiKeys(db, workspace_id, [row]))[0] ?? null) : null
}

const isLive = (now: string) => (eb: ExpressionBuilder<Tables, 'api_keys'>) =>
  eb.and([eb('revoked_at', 'is', null), eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)])])

const isMadeBy = (makers: Wanted<string>) =>
  choice(sql.ref('made_by'), { ...makers, missing: sql<SqlBool>`made_by IS NULL` }).where

/** The number of keys of a workspace that are neither revoked nor expired. */
export const countLiveKeys = (db: Db, workspace_id: number, now: string): Promise<number> =>
  countRows(db.selectFrom('api_keys').where('workspace_id', '=', workspace_id).where(isLive(now)))

/** `live_at`: only keys that are neither revoked nor expired at this time. */
type KeyFilter = { makers: Wanted<string> | undefined; live_at: string | null }

/** One page of a workspace's keys, newest first. */
export async function pageOfKeys(
  db: Db,
  workspace_id: number,
  { makers, live_at }: KeyFilter,
  page: Page,
): Promise<Listed<ApiKey>> {
  let all = db.selectFrom('api_keys').select(columns).where('workspace_id', '=', workspace_id)
  if (makers) all = all.where(isMadeBy(makers))
  if (live_at !== null) all = all.where(isLive(live_at))
  const { records, ...found } = await newestRows(all, 'id', page)
  return { records: await apiKeys(db, workspace_id, records), ...found }
}

/** All keys of the installation, oldest first, without their hashes. */
export const listKeys = (db: Db) =>
  db
    .selectFrom('api_keys')
    .select(['workspace_id', ...columns])
    .orderBy('created_at')
    .orderBy('id')
    .execute()

/**
 * Revokes a key of the context's workspace, the invitations by it, and the keys that it has made. False, and no change, if
 * there is no such live key.
 */
export async function revokeKeyTree(tx: Tx, context: Context, id: string): Promise<boolean> {
  // A concurrent request with the key either committed before, and what it made ends too, or is refused after us.
  await lockEntry(tx, 'workspaces', context.workspace_id)
  const revoked_at = context.now
  const revoked = await tx
    .updateTable('api_keys')
    .set({ revoked_at })
    .where((eb) => eb.and({ workspace_id: context.workspace_id, id }))
    .where('revoked_at', 'is', null)
    .returning('id')
    .executeTakeFirst()
  if (!revoked) return false
  recordChange(tx, context, {
    action: 'revoked',
    kind: 'api_keys',
    record_id: id,
    before: { revoked_at: null },
    after: { revoked_at },
  })
  await revokeInvitationsBy(tx, context, id, null)
  // No need to check the scopes: a key cannot make a key with more scopes than its own.
  await revokeKeysOf(tx, context, id, null)
  return true
}

/** Throws 403 if a key has more scopes than the caller who revokes it. */
export function refuseMoreScopes(own: Scopes, { name, scopes }: Pick<ApiKey, 'name' | 'scopes'>): void {
  if (covers(own, scopes)) return
  const lacked = scopes?.filter((scope) => !own?.includes(scope)).join(', ') ?? 'every scope'
  throw forbidden(`The key "${name}" has more scopes than you: ${lacked}. Ask somebody who has them.`)
}

/**
 * Revokes the live keys of the context's workspace that a key or a person has made. Throws 403 if one has more scopes than
 * `own`, those of the caller. The workspace is locked.
 */
export async function revokeKeysOf(tx: Tx, context: Context, made_by: string, own: Scopes): Promise<void> {
  const keys = await tx
    .selectFrom('api_keys')
    .select(['id', 'name', 'scopes'])
    .where((eb) => eb.and({ workspace_id: context.workspace_id, made_by }))
    .where(isLive(context.now))
    .execute()
  for (const { name, scopes } of keys)
    refuseMoreScopes(own, { name, scopes: scopes === null ? null : JSON.parse(scopes) })
  for (const { id } of keys) await revokeKeyTree(tx, context, id)
}
