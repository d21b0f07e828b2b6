import { Kysely, sql } from 'kysely'
import pg from 'pg'
import type { Db, Reading } from '../../db.ts'
import { troubleOf } from '../../errors.ts'
import type { Tables } from '../../tables.ts'
import { connectionOptions } from './connection.ts'
import { postgresDialect } from './dialect.ts'
import { watchPool } from './watch.ts'

// How long a list waits until the replica has caught up, and how often it polls.
const max_wait_ms = 100
const poll_ms = 5
// How long all lists use the primary after the replica failed or lagged.
const back_off_ms = 1000

class Behind extends Error {}

/**
 * Reads lists from a replica, never in an older state than the last acknowledged write. A list asks the primary for its
 * flushed WAL position, then waits until the replica has replayed it. The list uses the primary when the replica lags, is
 * unavailable, or has no replay position (as with shared storage).
 */
export function openReplica(url: string, pool_size: number, primary: Db) {
  const pool = new pg.Pool({ ...connectionOptions(url), max: pool_size, connectionTimeoutMillis: 1000 })
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  const replica = new Kysely<Tables>({ dialect: postgresDialect(pool, watchPool(pool, url), () => {}) })
  let back_off_until_ms = 0

  // One query serves all lists that begin before it is sent. Later lists need a later position.
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
    // A server without a replay position is not a replica, or no longer one.
    if (there === null) throw new Behind()
    return there
  }

  const reading: Reading = async (work) => {
    const start = performance.now()
    if (start < back_off_until_ms) return work(primary)
    try {
      const lsn = await position()
      while (!(await caughtUp(lsn))) {
        if (performance.now() - start > max_wait_ms) throw new Behind()
        await new Promise((resolve) => setTimeout(resolve, poll_ms))
      }
      return await work(replica)
    } catch (error) {
      // The replica lags, is unavailable, or cancelled the query to continue replaying. Other errors of the work occur
      // again on the primary.
      if (error instanceof Behind || troubleOf(error) === 'unavailable')
        back_off_until_ms = performance.now() + back_off_ms
      return work(primary)
    }
  }
  return { reading, close: () => replica.destroy() }
}
