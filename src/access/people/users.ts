import type { Db, Tx } from '../../db/db.ts'
import { newId } from '../../db/ids.ts'

/**
 * The key by which e-mails are compared, without case and Unicode composition. Several accounts may have the same key.
 * The column email_key has it: a change needs a migration.
 */
export const emailKey = (email: string): string => email.trim().normalize('NFKC').toUpperCase().toLowerCase()

const columns = [
  'id',
  'name',
  'email',
  'password_hash',
  'time_zone',
  'language',
  'created_at',
  'updated_at',
  'mail_preferences',
] as const

export type User = NonNullable<Awaited<ReturnType<typeof findUser>>>

export const findUser = (db: Db, id: string) =>
  db.selectFrom('users').select(columns).where('id', '=', id).executeTakeFirst()

/** Whether this is the hash of the account's password. It may have changed while the password was checked. */
export const hasPassword = async (db: Db, id: string, password_hash: string): Promise<boolean> =>
  (await findUser(db, id))?.password_hash === password_hash

/** Whether an account has this e-mail. */
export async function hasAccount(db: Db, email: string): Promise<boolean> {
  const some = db.selectFrom('users').select('id').where('email_key', '=', emailKey(email)).limit(1)
  return (await some.executeTakeFirst()) !== undefined
}

/** The accounts with an e-mail or an id, oldest first, up to 100. */
export const usersByEmailOrId = (db: Db, email_or_id: string) =>
  db
    .selectFrom('users')
    .select(columns)
    .where((eb) => eb.or([eb('id', '=', email_or_id), eb('email_key', '=', emailKey(email_or_id))]))
    .orderBy('id')
    .limit(100)
    .execute()

/** All accounts, oldest first. */
export const listUsers = (db: Db) =>
  db
    .selectFrom('users')
    .select(['id', 'name', 'email', 'created_at'])
    .orderBy('created_at')
    .orderBy('id')
    .execute()

export const anyUser = async (db: Db): Promise<boolean> =>
  (await db.selectFrom('users').select('id').limit(1).executeTakeFirst()) !== undefined

type NewUser = {
  name: string
  email: string
  password_hash: string
  time_zone?: string | null | undefined
  language?: string | null | undefined
}

/** Creates an account and returns its id. */
export async function insertUser(tx: Tx, now: string, user: NewUser): Promise<string> {
  const { name, email, password_hash, time_zone = null, language = null } = user
  const id = newId('usr')
  await tx
    .insertInto('users')
    .values({
      id,
      name,
      email,
      email_key: emailKey(email),
      password_hash,
      time_zone,
      language,
      created_at: now,
      updated_at: now,
      reset_hash: null,
      reset_expires_at: null,
      left_at: null,
    })
    .execute()
  return id
}

/** Ends the links of mails that set a new password. */
export const endResetLinks = (tx: Tx, user_id: string) =>
  tx.deleteFrom('reset_links').where('user_id', '=', user_id).execute()

/** Sets a new password hash, and ends all links that set one. */
export async function setPassword(tx: Tx, now: string, id: string, password_hash: string): Promise<void> {
  await endResetLinks(tx, id)
  await tx
    .updateTable('users')
    .set({ password_hash, updated_at: now, reset_hash: null, reset_expires_at: null })
    .where('id', '=', id)
    .execute()
}
