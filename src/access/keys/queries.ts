import type { ExpressionBuilder } from 'kysely'
import type { Db } from '../../db/db.ts'
import { cutPage, type Page } from '../../db/lists/lists.ts'
import { lockEntry } from '../../db/locks.ts'
import type { Tables } from '../../db/tables.ts'
import { actorOf, namedActors } from '../../events/actors.ts'
import { recordChange } from '../../events/audit.ts'
import type { Context } from '../../events/context.ts'
import { forbidden } from '../../http/errors.ts'
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

/** Keys of a workspace as GET shows them, with the names of who made them. */
async function shown(db: Db, workspace_id: number, rows: Row[]): Promise<ApiKey[]> {
  const makers = rows.flatMap(({ made_by }) => (made_by === null ? [] : actorOf(made_by)))
  const named = new Map((await namedActors(db, workspace_id, makers)).map((actor) => [actor.id, actor]))
  return rows.map(({ scopes, made_by, ...row }) => ({
    ...row,
    scopes: scopes === null ? null : JSON.parse(scopes),
    made_by: named.get(made_by) ?? null,
  }))
}

/** A key of the workspace, whether it still works or not, or null. */
export async function findKey(db: Db, workspace_id: number, id: string): Promise<ApiKey | null> {
  const row = await db
    .selectFrom('api_keys')
    .select(columns)
    .where('workspace_id', '=', workspace_id)
    .where('id', '=', id)
    .executeTakeFirst()
  return row ? ((await shown(db, workspace_id, [row]))[0] ?? null) : null
}

const isLive = (now: string) => (eb: ExpressionBuilder<Tables, 'api_keys'>) =>
  eb.and([eb('revoked_at', 'is', null), eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)])])

/** How many keys of a workspace open something at a time. */
export async function countLiveKeys(db: Db, workspace_id: number, now: string): Promise<number> {
  const { n } = await db
    .selectFrom('api_keys')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('workspace_id', '=', workspace_id)
    .where(isLive(now))
    .executeTakeFirstOrThrow()
  return n
}

/** `live_at`: only those that open something at this time. */
type Wanted = { made_by: string | null; live_at: string | null }

/** One page of a workspace's keys, newest first, and the number of all (null by cursor). Ids grow with time. */
export async function pageOfKeys(db: Db, workspace_id: number, { made_by, live_at }: Wanted, page: Page) {
  let all = db.selectFrom('api_keys').where('workspace_id', '=', workspace_id)
  if (made_by !== null) all = all.where('made_by', '=', made_by)
  if (live_at !== null) all = all.where(isLive(live_at))
  const newest = all.select(columns).orderBy('id', 'desc')
  if ('after' in page) {
    const place = page.after?.[0]
    const beyond = place === undefined ? newest : newest.where('id', '<', String(place))
    const found = await beyond.limit(page.per_page + 1).execute()
    const { shown: rows, last } = cutPage(found, page.per_page)
    return { total: null, next: last ? [last.id] : null, keys: await shown(db, workspace_id, rows) }
  }
  const { n } = await all.select((eb) => eb.fn.countAll<number>().as('n')).executeTakeFirstOrThrow()
  const rows = await newest.limit(page.per_page).offset(page.offset).execute()
  return { total: n, next: null, keys: await shown(db, workspace_id, rows) }
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
 * Takes a key of the context's workspace back, and with it what it has offered and the keys that it has made; false when it
 * had been before, or there is none: then nothing changes.
 */
export async function takeBack(tx: Db, context: Context, id: string): Promise<boolean> {
  // An invitation or a key that the key makes at this moment comes before, and ends too, or after, and is refused.
  await lockEntry(tx, 'workspaces', context.workspace_id)
  const revoked_at = context.now
  const taken = await tx
    .updateTable('api_keys')
    .set({ revoked_at })
    .where('workspace_id', '=', context.workspace_id)
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .returning('id')
    .executeTakeFirst()
  if (!taken) return false
  await recordChange(tx, context, {
    action: 'revoked',
    kind: 'api_keys',
    record_id: id,
    before: { revoked_at: null },
    after: { revoked_at },
  })
  await revokeInvitationsBy(tx, context, id, null)
  // A key has made none that may do more than itself.
  await takeBackKeysBy(tx, context, id, null)
  return true
}

/** Throws 403 for a key that may do more than the caller who wants to take it back. */
export function refuseBeyondOwn(own: Scopes, { name, scopes }: Pick<ApiKey, 'name' | 'scopes'>): void {
  if (covers(own, scopes)) return
  const lacked = scopes?.filter((scope) => !own?.includes(scope)).join(', ') ?? 'every scope'
  throw forbidden(`The key "${name}" has more scopes than you: ${lacked}. Ask somebody who has them.`)
}

/**
 * Takes back the live keys of the context's workspace that a key or a person has made; 403 when one of them may do more than
 * `own`, the scopes of the caller. The caller has locked the workspace.
 */
export async function takeBackKeysBy(tx: Db, context: Context, made_by: string, own: Scopes): Promise<void> {
  const keys = await tx
    .selectFrom('api_keys')
    .select(['id', 'name', 'scopes'])
    .where('workspace_id', '=', context.workspace_id)
    .where('made_by', '=', made_by)
    .where(isLive(context.now))
    .execute()
  for (const { name, scopes } of keys)
    refuseBeyondOwn(own, { name, scopes: scopes === null ? null : JSON.parse(scopes) })
  for (const { id } of keys) await takeBack(tx, context, id)
}
