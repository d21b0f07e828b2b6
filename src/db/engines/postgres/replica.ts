import { Kysely, sql } from 'kysely'
import pg from 'pg'
import type { Db, Reading } from '../../db.ts'
import { troubleOf } from '../../errors.ts'
import type { Tables } from '../../tables.ts'
import { connectionOptions } from './connection.ts'
import { postgresDialect } from './dialect.ts'
import { watchPool } from './watch.ts'

// How long a list waits for the replica to catch up, and how often it looks.
const longest_wait_ms = 100
const look_ms = 5
// A replica that failed or was too late is left alone for so long.
const rest_ms = 1000

class Behind extends Error {}

/**
 * Reads lists from a replica, and never an older state than what was acknowledged before: a list first asks the primary
 * how far its log is on the disk, and waits until the replica has replayed that. It is read from the primary when the
 * replica is too far behind, away, or cannot tell (services whose replicas share the primary's storage).
 */
export function openReplica(url: string, pool_size: number, primary: Db) {
  const pool = new pg.Pool({ ...connectionOptions(url), max: pool_size, connectionTimeoutMillis: 1000 })
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  const replica = new Kysely<Tables>({ dialect: postgresDialect(pool, watchPool(pool, url), () => {}) })
  let resting_until = 0

  // One question for all lists that begin before it is asked: those that come later need a later answer.
  let next: Promise<string> | null = null
  let asking: Promise<unknown> = Promise.resolve()
  function position(): Promise<string> {
    next ??= asking.then(() => {
      const answer = ask()
      asking = answer.catch(() => {})
      next = null
      return answer
    })
    return next
  }
  async function ask(): Promise<string> {
    const { rows } = await sql<{ lsn: string }>`SELECT pg_current_wal_flush_lsn()::text AS lsn`.execute(
      primary,
    )
    return rows[0]?.lsn ?? ''
  }

  async function caughtUp(lsn: string): Promise<boolean> {
    const { rows } = await sql<{ there: boolean | null }>`
      SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() >= ${lsn}::pg_lsn END AS there`.execute(
      replica,
    )
    const there = rows[0]?.there ?? null
    // What replays nothing is no replica, or one no more.
    if (there === null) throw new Behind()
    return there
  }

  const reading: Reading = async (work) => {
    const start = performance.now()
    if (start < resting_until) return work(primary)
    try {
      const lsn = await position()
      while (!(await caughtUp(lsn))) {
        if (performance.now() - start > longest_wait_ms) throw new Behind()
        await new Promise((resolve) => setTimeout(resolve, look_ms))
      }
      return await work(replica)
    } catch (error) {
      // Behind, away, or a query that it gave up to go on replaying. A fault of the work itself fails on the primary too.
      if (error instanceof Behind || troubleOf(error) === 'unavailable')
        resting_until = performance.now() + rest_ms
      return work(primary)
    }
  }
  return { reading, close: () => replica.destroy() }
}
