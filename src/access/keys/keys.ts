import { randomBytes } from 'node:crypto'
import { type Clock, isoTime } from '../../clock.ts'
import { type Db, type Tx, transaction } from '../../db/db.ts'
import { newId } from '../../db/ids.ts'
import { lockEntry } from '../../db/locks.ts'
import { prepare } from '../../db/statements/prepare.ts'
import { hashToken } from '../../db/token-hash.ts'
import { refuseMore } from '../../errors.ts'
import { auditSnapshot, recordChange } from '../../events/audit.ts'
import { type Actor, type Context, contextOf } from '../../events/context.ts'
import type { Access } from '../../http/auth.ts'
import { countLiveKeys, revokeKeyTree } from './queries.ts'

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** `crm_` and 32 random bytes in base62 (43 digits). */
function newToken(): string {
  let number = BigInt(`0x${randomBytes(32).toString('hex')}`)
  let digits = ''
  while (digits.length < 43) {
    digits = base62[Number(number % 62n)] + digits
    number /= 62n
  }
  return `crm_${digits}`
}

type NewKey = { name: string; scopes: string[] | null; expires_at: string | null }

const max_live_keys = 1000

/**
 * Creates a key of the context's workspace and returns its token. Only the hash of the token is stored. Throws 409 if the
 * workspace has 1,000 live keys.
 */
export async function insertKey(
  tx: Tx,
  context: Context,
  key: NewKey,
): Promise<{ id: string; token: string }> {
  // The lock makes the limit exact: concurrent requests create their keys one after another.
  await lockEntry(tx, 'workspaces', context.workspace_id)
  const live = await countLiveKeys(tx, context.workspace_id, context.now)
  refuseMore(
    'too_many_keys',
    live,
    max_live_keys,
    `A workspace has at most ${max_live_keys} live API keys`,
    'Revoke one first.',
  )
  const id = newId('key')
  const token = newToken()
  await tx
    .insertInto('api_keys')
    .values({
      ...key,
      id,
      workspace_id: context.workspace_id,
      hash: hashToken(token),
      scopes: key.scopes && JSON.stringify(key.scopes),
      created_at: context.now,
      last_used_at: null,
      revoked_at: null,
      // Null for a key of the command line or of the first start: these makers cannot be revoked or removed.
      made_by: context.actor.id,
    })
    .execute()
  recordChange(tx, context, {
    action: 'created',
    kind: 'api_keys',
    record_id: id,
    after: auditSnapshot(key),
  })
  return { id, token }
}

/** Revokes a key of any workspace. Idempotent. False if no key has this id. */
export async function revokeKey(db: Db, clock: Clock, actor: Actor, id: string): Promise<boolean> {
  return transaction(db, async (tx) => {
    const key = await tx.selectFrom('api_keys').select('workspace_id').where('id', '=', id).executeTakeFirst()
    if (key) await revokeKeyTree(tx, contextOf(clock, { ...key, actor, request_id: null }), id)
    return key !== undefined
  })
}

const liveKey = prepare(({ hash }: { hash: string }, db) =>
  db
    .selectFrom('api_keys')
    .select(['id', 'name', 'workspace_id', 'scopes', 'expires_at'])
    .where('hash', '=', hash)
    .where('revoked_at', 'is', null),
)

/** The access of a key, by the hash of its token. Null if the key is unknown or revoked. */
export async function findAccess(db: Db, hash: string): Promise<Access | null> {
  const [key] = await liveKey(db, { hash })
  if (!key) return null
  return {
    id: key.id,
    actor: { kind: 'key', id: key.id, name: key.name },
    workspace_id: key.workspace_id,
    scopes: key.scopes === null ? null : JSON.parse(key.scopes),
    expires_at: key.expires_at,
  }
}

/** Records when a key was last used. */
export const recordKeyUse = (tx: Tx, id: string, now_ms: number) =>
  tx
    .updateTable('api_keys')
    .set({ last_used_at: isoTime(now_ms) })
    .where('id', '=', id)
    .execute()
