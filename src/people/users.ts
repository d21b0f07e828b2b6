import type { Db } from '../db/db.ts'
import { newId } from '../db/ids.ts'

/** One person for each address, however it is written. */
export const emailKey = (email: string): string => email.trim().toLowerCase()

const columns = [
  'id',
  'name',
  'email',
  'password_hash',
  'time_zone',
  'language',
  'created_at',
  'updated_at',
] as const

export type User = NonNullable<Awaited<ReturnType<typeof findUser>>>

export const findUser = (db: Db, id: string) =>
  db.selectFrom('users').select(columns).where('id', '=', id).executeTakeFirst()

export const userByEmail = (db: Db, email: string) =>
  db.selectFrom('users').select(columns).where('email_key', '=', emailKey(email)).executeTakeFirst()

/** Everybody who has an account, oldest first. */
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

/** Makes a person and returns the id. The constraint users_email_key refuses an e-mail that another one has. */
export async function insertUser(tx: Db, now: string, user: NewUser): Promise<string> {
  const { name, email, password_hash, time_zone = null, language = null } = user
  const id = newId('usr')
  await tx
    .insertInto('users')
    .values({
      ...{ id, name, email, email_key: emailKey(email), password_hash, time_zone, language },
      ...{ created_at: now, updated_at: now, reset_hash: null, reset_expires_at: null },
    })
    .execute()
  return id
}

/** A new password: a link for another one is worth nothing any more. */
export const setPassword = (tx: Db, now: string, id: string, password_hash: string) =>
  tx
    .updateTable('users')
    .set({ password_hash, updated_at: now, reset_hash: null, reset_expires_at: null })
    .where('id', '=', id)
    .execute()
