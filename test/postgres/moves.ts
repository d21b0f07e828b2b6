import { DatabaseSync } from 'node:sqlite'
import type { TestContext } from 'node:test'
import { settingsOf } from '../engine.ts'
import { startRapport } from '../harness.ts'
import { runRapport, scratchFolder } from '../process.ts'

/** A data folder that is served on SQLite, whatever these tests run on. */
export async function serveSqlite(t: TestContext, data_dir: string, env: Record<string, string> = {}) {
  const rapport = await startRapport({
    data_dir,
    env: { DATABASE_URL: '', WEBHOOK_RETRY_DELAYS: 'none', ...env },
  })
  t.after(() => rapport.close())
  return rapport
}

/** The same on PostgreSQL; the data folder has the key file alone. */
export const servePostgres = (t: TestContext, data_dir: string, url: string) =>
  serveSqlite(t, data_dir, { DATABASE_URL: url })

/** The URL of a database without tables, which is removed after the test. */
export async function emptyDatabase(t: TestContext): Promise<string> {
  const { DATABASE_URL = '' } = await settingsOf(scratchFolder(t), { migrated: false })
  return DATABASE_URL
}

export const move = (from: string, to: string, env: Record<string, string> = {}) =>
  runRapport(['move', '--from', from, '--to', to], env)

export function change(data_dir: string, text: string) {
  const database = new DatabaseSync(`${data_dir}/rapport.db`)
  database.exec(text)
  database.close()
}
