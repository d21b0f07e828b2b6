import { mkdirSync } from 'node:fs'
import { pino } from 'pino'
import { buildApp } from './app.ts'
import { type Clock, systemClock } from './clock.ts'
import type { Config } from './config.ts'
import { migrate } from './db/migrate.ts'
import { checkSeal, createSeal, readSecretKey } from './db/seal.ts'
import { lockFolder } from './db/sqlite/lock.ts'
import { databaseFile, openSqlite } from './db/sqlite/open.ts'
import type { Phase } from './http/health.ts'
import { insertKey } from './keys/keys.ts'
import { insertWorkspace } from './workspaces/workspaces.ts'

export type Running = {
  url: string
  /** The first API key, when this start made it: shown once. */
  first_key: string | null
  /** Lets requests and attempts in flight finish within 15 s, releases the rest, closes everything. */
  stop(): Promise<void>
}

const drain_ms = 15_000

/** Starts the service on one data folder; resolves when it answers requests. */
export async function startServer(
  config: Config,
  { clock = systemClock }: { clock?: Clock } = {},
): Promise<Running> {
  mkdirSync(config.data_dir, { recursive: true, mode: 0o700 })
  const unlock = lockFolder(config.data_dir)
  const logger = pino({ level: config.log_level })
  const database = openSqlite(databaseFile(config.data_dir))
  let phase: Phase = 'starting'
  try {
    await migrate(database)
    const { db } = database
    const seal = createSeal(readSecretKey(config.secret_key, config.data_dir))
    await checkSeal(db, seal)
    const first_key = await firstKey(database.db, clock)
    const app = await buildApp({ config, database, clock, seal, phase: () => phase, logger: logger as never })
    const url = await app.listen({ port: config.port, host: config.host })
    phase = 'ready'

    async function stop() {
      if (phase === 'stopping') return
      phase = 'stopping'
      const late = setTimeout(() => app.server.closeAllConnections(), drain_ms)
      await app.close()
      clearTimeout(late)
      await database.close()
      unlock()
    }
    return { url, first_key, stop }
  } catch (error) {
    await database.close()
    unlock()
    throw error
  }
}

// An empty installation gets a workspace and a key, so that the first request can be sent at once.
async function firstKey(db: Parameters<typeof insertKey>[0], clock: Clock): Promise<string | null> {
  if (await db.selectFrom('workspaces').select('id').limit(1).executeTakeFirst()) return null
  const workspace_id = await insertWorkspace(db, clock, 'My workspace')
  const { token } = await insertKey(db, clock, {
    workspace_id,
    name: 'First key',
    scopes: null,
    expires_at: null,
  })
  return token
}
