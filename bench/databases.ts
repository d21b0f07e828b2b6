import { randomBytes } from 'node:crypto'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../src/config.ts'
import { databaseFile } from '../src/db/engines/sqlite/open.ts'
import { command, createDatabase, dropDatabases, startPostgres } from '../test/postgres.ts'
import { seed } from './seed.ts'

export const engines = ['sqlite', 'postgres'] as const
export type Engine = (typeof engines)[number]

/** A filled database: Rapport's settings for it, the argument of bare servers, and an API key. */
export type Filled = { env: Record<string, string>; target: string; key: string }

export type Databases = {
  fill(name: string, contacts: number): Promise<Filled>
  /** A copy of the rows, for another server. */
  copy(filled: Filled, name: string): Promise<Filled>
  /** The PostgreSQL URL of a database without tables. Null on SQLite, where any new folder is one. */
  empty(name: string): Promise<string | null>
  remove(): Promise<void>
}

/**
 * Scratch databases of an engine. PostgreSQL is the server at BENCH_DATABASE_URL, whose user may create databases. By default
 * a server is started, with fsync on as in production.
 */
export async function openDatabases(engine: Engine): Promise<Databases> {
  const folder = mkdtempSync(join(tmpdir(), 'rapport-bench-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  const folderOf = (name: string) => {
    const path = join(folder, name)
    mkdirSync(path)
    return path
  }
  if (engine === 'postgres') return onPostgres(folderOf, remove)
  return {
    async fill(name, contacts) {
      const env = { DATA_DIR: folderOf(name) }
      const key = await seed(readConfig(env), contacts)
      return { env, target: databaseFile(env.DATA_DIR), key }
    },
    async copy({ target, key }, name) {
      const env = { DATA_DIR: folderOf(name) }
      copyFileSync(target, databaseFile(env.DATA_DIR))
      return { env, target: databaseFile(env.DATA_DIR), key }
    },
    empty: async () => null,
    async remove() {
      remove()
    },
  }
}

// The settings of a small production server. The tests have settings for hundreds of tiny databases.
const settings = { autovacuum: 'on', shared_buffers: '512MB', wal_level: 'replica', max_wal_size: '4GB' }

async function onPostgres(folderOf: (name: string) => string, removeFolder: () => void): Promise<Databases> {
  const given = process.env.BENCH_DATABASE_URL
  const server = given ? null : await startPostgres({ fsync: true, settings })
  const url = given ?? (server?.url as string)
  const prefix = `bench_${randomBytes(4).toString('hex')}_`
  const filled = (database: string, name: string, key: string): Filled => ({
    env: { DATA_DIR: folderOf(name), DATABASE_URL: database },
    target: database,
    key,
  })
  return {
    async fill(name, contacts) {
      const made = filled(await createDatabase(url, prefix + name), name, '')
      const key = await seed(readConfig(made.env), contacts)
      // Vacuum now, so that autovacuum does not disturb a measurement.
      await command(made.target, 'VACUUM (ANALYZE)')
      await command(made.target, 'CHECKPOINT')
      return { ...made, key }
    },
    async copy({ target, key }, name) {
      const template = new URL(target).pathname.slice(1)
      return filled(await createDatabase(url, prefix + name, template), name, key)
    },
    empty: (name) => createDatabase(url, prefix + name),
    async remove() {
      removeFolder()
      if (server) await server.stop()
      else await dropDatabases(url, prefix)
    },
  }
}
