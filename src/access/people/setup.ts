import type { Db, Tx } from '../../db/db.ts'
import { lockInstallation } from '../../db/locks.ts'
import { newToken } from './tokens.ts'
import { anyUser } from './users.ts'

const name = 'setup_link'

/** A new token for the setup link. It replaces an older one. Null if an account exists. */
export async function makeSetupToken(tx: Tx): Promise<string | null> {
  await lockInstallation(tx)
  if (await anyUser(tx)) return null
  const { token, hash: value } = newToken()
  await tx
    .insertInto('settings')
    .values({ name, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute()
  return token
}

/** Whether this is the hash of the setup token. Comparing hashes reveals nothing of the token by timing. */
export async function isSetupHash(db: Db, hash: string): Promise<boolean> {
  const row = await db
    .selectFrom('settings')
    .select('value')
    .where((eb) => eb.and({ name, value: hash }))
    .executeTakeFirst()
  return row !== undefined
}

export const removeSetupToken = (tx: Tx) => tx.deleteFrom('settings').where('name', '=', name).execute()
