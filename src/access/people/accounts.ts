import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import type { Seal } from '../../db/seal.ts'
import {
  type Asker,
  type Cost,
  checkPassword,
  default_cost,
  hashPassword,
  hashStart,
  salt_length,
} from './passwords.ts'
import { emailKey, findUser, type User } from './users.ts'

// Older hashes have a random salt. They are from a time when an e-mail had one account.
const max_older_hashes = 5

export type Accounts = ReturnType<typeof createAccounts>

/**
 * The passwords of accounts. All accounts of an e-mail have the same salt, derived from the installation's secret. So one
 * hash finds the account of a password, however many accounts the e-mail has.
 */
export function createAccounts(db: Db, seal: Seal, cost: Cost = default_cost) {
  const saltOf = (email: string): Buffer =>
    Buffer.from(seal.mac('password-salt', emailKey(email)), 'base64url').subarray(0, salt_length)

  const hash = (email: string, password: string, asker: Asker): Promise<string> =>
    hashPassword(password, { asker, salt: saltOf(email), cost })

  const ofEmail = (email: string) => db.selectFrom('users').where('email_key', '=', emailKey(email))

  /** Whether a row's hash has the salt of its e-mail. */
  const isSalted = (email: string) => {
    const start = hashStart(cost, saltOf(email))
    return sql<boolean>`substr(password_hash, 1, ${start.length}) = ${start}`
  }

  /** The account with this hash. Of several, the account that was used last. */
  async function withHash(email: string, password_hash: string): Promise<User | null> {
    const last_entered = sql`coalesce((SELECT max(entered_at) FROM memberships m WHERE m.user_id = users.id), '')`
    const found = await ofEmail(email)
      .select('id')
      .where('password_hash', '=', password_hash)
      .orderBy(last_entered, 'desc')
      .orderBy('id')
      .limit(1)
      .executeTakeFirst()
    return (found && (await findUser(db, found.id))) ?? null
  }

  return {
    hash,

    /** Whether an e-mail has another account than these. */
    async hasOther(email: string, ids: string[]): Promise<boolean> {
      const other = ofEmail(email).select('id').where('id', 'not in', ids).limit(1)
      return (await other.executeTakeFirst()) !== undefined
    },

    /**
     * The account of an e-mail and a password, or null. Both cost one hash, so that the time does not show whether an e-mail
     * has an account. Each account with an older hash costs one more if newer accounts exist.
     */
    async find(email: string, password: string, asker: Asker): Promise<User | null> {
      const salted = isSalted(email)
      const older = await ofEmail(email)
        .select(['id', 'password_hash'])
        .where((eb) => eb.not(salted))
        .orderBy('id')
        .limit(max_older_hashes)
        .execute()
      const any = await ofEmail(email).select('id').where(salted).limit(1).executeTakeFirst()
      const found = any || !older.length ? await withHash(email, await hash(email, password, asker)) : null
      if (found) return found
      for (const { id, password_hash } of older)
        if (await checkPassword(password, password_hash, asker)) return (await findUser(db, id)) ?? null
      return null
    },
  }
}
