import type { Db } from '../db/db.ts'
import { cutPage, type Page } from '../db/lists.ts'
import { lockEntry } from '../db/locks.ts'
import { recordChange } from '../events/audit.ts'
import type { Context } from '../events/context.ts'
import { revokeInvitationsBy } from '../people/invitations.ts'
import type { ApiKey } from './schema.ts'

const columns = ['id', 'name', 'scopes', 'created_at', 'expires_at', 'last_used_at', 'revoked_at'] as const

type Row = Omit<ApiKey, 'scopes'> & { scopes: string | null }
const shown = ({ scopes, ...row }: Row): ApiKey => ({
  ...row,
  scopes: scopes === null ? null : JSON.parse(scopes),
})

/** A key of the workspace, whether it still works or not, or null. */
export async function findKey(db: Db, workspace_id: number, id: string): Promise<ApiKey | null> {
  const row = await db
    .selectFrom('api_keys')
    .select(columns)
    .where('workspace_id', '=', workspace_id)
    .where('id', '=', id)
    .executeTakeFirst()
  return row ? shown(row) : null
}

/** One page of a workspace's keys, newest first, and the number of all (null by cursor). Ids grow with time. */
export async function pageOfKeys(db: Db, workspace_id: number, page: Page) {
  const all = db.selectFrom('api_keys').where('workspace_id', '=', workspace_id)
  const newest = all.select(columns).orderBy('id', 'desc')
  if ('after' in page) {
    const place = page.after?.[0]
    const beyond = place === undefined ? newest : newest.where('id', '<', String(place))
    const found = await beyond.limit(page.per_page + 1).execute()
    const { shown: rows, last } = cutPage(found, page.per_page)
    return { total: null, next: last ? [last.id] : null, keys: rows.map(shown) }
  }
  const { n } = await all.select((eb) => eb.fn.countAll<number>().as('n')).executeTakeFirstOrThrow()
  const rows = await newest.limit(page.per_page).offset(page.offset).execute()
  return { total: n, next: null, keys: rows.map(shown) }
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
 * Takes a key of the context's workspace back, and what it has offered with it; false when it had been before, or there is
 * none: then nothing changes.
 */
export async function takeBack(tx: Db, context: Context, id: string): Promise<boolean> {
  // An invitation that the key makes at this moment comes before, and ends too, or after, and is refused.
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
    ...{ action: 'revoked', kind: 'api_keys', record_id: id },
    ...{ before: { revoked_at: null }, after: { revoked_at } },
  })
  await revokeInvitationsBy(tx, context, id, null)
  return true
}
