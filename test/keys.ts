import { insertKey } from '../src/access/keys/keys.ts'
import { systemClock } from '../src/clock.ts'
import { type Db, transaction } from '../src/db/db.ts'
import { command_line, contextOf } from '../src/events/context.ts'
import { openScratch } from './engine.ts'
import { client } from './harness.ts'

type Service = { url: string; data_dir: string }

/** Works on the database of a running service through connections of its own, as the command line does. */
export async function beside<T>(data_dir: string, work: (db: Db) => Promise<T>): Promise<T> {
  const { db, close } = await openScratch(data_dir)
  try {
    return await work(db)
  } finally {
    await close()
  }
}

type Wish = { name?: string; workspace_id?: number; scopes?: string[] | null; expires_at?: string | null }

/** Makes an API key beside a running service; by default of its first workspace, with every scope and no end. */
export async function makeKey({ url, data_dir }: Service, { workspace_id = 1, ...wish }: Wish = {}) {
  const key = { scopes: null, expires_at: null, name: 'Test', ...wish }
  const context = contextOf(systemClock, { workspace_id, actor: command_line, request_id: null })
  const made = await beside(data_dir, (db) => transaction(db, (tx) => insertKey(tx, context, key)))
  return { ...made, call: client(url, made.token) }
}
