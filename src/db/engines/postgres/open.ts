import { Kysely, sql } from 'kysely'
import pg from 'pg'
import { steadyClock } from '../../../clock.ts'
import type { Database } from '../../db.ts'
import type { Tables } from '../../tables.ts'
import { followClock } from './clock.ts'
import { connectionOptions } from './connection.ts'
import { postgresDialect } from './dialect.ts'
import { openReplica } from './replica.ts'
import { createWakeUps } from './wake.ts'
import { watchPool } from './watch.ts'

/** Opens PostgreSQL, 15 or newer. Throws when it cannot be reached within some seconds. */
export async function openPostgres(
  url: string,
  replica_url: string | null,
  pool_size: number,
): Promise<Database> {
  const pool = new pg.Pool({
    ...connectionOptions(url),
    max: pool_size,
    // A connection is not given up soon: making one costs the server a process.
    idleTimeoutMillis: 300_000,
    // Waiting for a free one: more than this and the request is told to come again.
    connectionTimeoutMillis: 5000,
  })
  // A connection that ends while it is idle, or while its query has failed already, is nobody's error any more.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))

  const wake_ups = createWakeUps(url, pool)
  const db = new Kysely<Tables>({ dialect: postgresDialect(pool, watchPool(pool, url), wake_ups.committed) })
  try {
    await checkServer(db)
    const clock = await followClock(db, steadyClock)
    const replica = replica_url === null ? null : openReplica(replica_url, pool_size, db)
    return {
      db,
      engine: 'postgres',
      reading: replica?.reading ?? ((work) => work(db)),
      clock,
      onCommit: wake_ups.listen,
      // The server groups commits by itself, and tells nobody.
      onGroup() {},
      // PostgreSQL runs statements in its own process, so none blocks the event loop.
      onSlow() {},
      async close() {
        clock.stop()
        await wake_ups.close()
        await replica?.close()
        await db.destroy()
      },
    }
  } catch (error) {
    await wake_ups.close()
    await db.destroy()
    throw error
  }
}

async function checkServer(db: Kysely<Tables>): Promise<void> {
  const { rows } = await sql<{ number: number; name: string; encoding: string }>`
    SELECT current_setting('server_version_num')::int AS number, current_setting('server_version') AS name,
      current_setting('server_encoding') AS encoding`.execute(db)
  const { number = 0, name = '', encoding = '' } = rows[0] ?? {}
  if (number < 150_000) throw new Error(`DATABASE_URL is PostgreSQL ${name}: 15 or newer is needed.`)
  if (encoding !== 'UTF8')
    throw new Error(
      `The database of DATABASE_URL has the encoding ${encoding}: make one with ENCODING 'UTF8' TEMPLATE template0.`,
    )
}
