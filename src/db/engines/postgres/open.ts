import { Kysely, sql } from 'kysely'
import pg from 'pg'
import { steadyClock } from '../../../clock.ts'
import type { Database } from '../../db.ts'
import { request_wait_ms, type Waits } from '../../locks.ts'
import type { Tables } from '../../tables.ts'
import { followClock } from './clock.ts'
import { connectionOptions } from './connection.ts'
import { postgresDialect } from './dialect.ts'
import { openReplica } from './replica.ts'
import { openSnapshot } from './snapshot.ts'
import { createTransactionPool } from './transaction-pool.ts'
import { createWakeUps } from './wake.ts'
import { watchPool } from './watch.ts'

/** Opens PostgreSQL 15 or newer. Throws when the server is older, or gives no connection in time. */
export async function openPostgres(
  url: string,
  replica_url: string | null,
  pool_size: number,
  { suspect_after_ms, wait_ms = request_wait_ms }: Waits = {},
): Promise<Database> {
  const pool = new pg.Pool({
    ...connectionOptions(url, wait_ms),
    max: pool_size,
    // Keep idle connections for 5 minutes: each new connection costs the server a process.
    idleTimeoutMillis: 300_000,
    connectionTimeoutMillis: wait_ms,
  })
  // Ignore errors of idle connections and of connections whose query has failed: no query waits for them.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))

  const wake_ups = createWakeUps(url, pool)
  const transactions = createTransactionPool(pool)
  const dialect = postgresDialect(
    pool,
    watchPool(pool, url, suspect_after_ms),
    wake_ups.committed,
    transactions,
  )
  const db = new Kysely<Tables>({ dialect })
  try {
    await checkServer(db)
    const clock = await followClock(db, steadyClock)
    const replica = replica_url === null ? null : openReplica(replica_url, pool_size, db)
    return {
      db,
      engine: 'postgres',
      reading: replica?.reading ?? ((work) => work(db)),
      openSnapshot: () => openSnapshot(url),
      clock,
      onCommit: wake_ups.listen,
      // The server groups commits itself and does not report the groups.
      onGroup() {},
      // Statements run in the server's process, so they do not block the event loop.
      onSlow() {},
      pool: () => ({
        busy: pool.totalCount - pool.idleCount,
        idle: pool.idleCount,
        waiting: pool.waitingCount + transactions.waiting(),
      }),
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
  if (number < 150_000) throw new Error(`DATABASE_URL is PostgreSQL ${name}. Use PostgreSQL 15 or newer.`)
  if (encoding !== 'UTF8')
    throw new Error(
      `The database of DATABASE_URL has the encoding ${encoding}. Create one with ENCODING 'UTF8' TEMPLATE template0.`,
    )
}
