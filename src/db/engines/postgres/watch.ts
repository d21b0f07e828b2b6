import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises'
import pg, { type Pool, type PoolClient } from 'pg'
import { explainLoss, Unreachable } from '../../errors.ts'
import { closeConnection, connectionOptions, destroyConnection } from './connection.ts'

// Most statements take a few milliseconds. A slow one is either long work, or its server or network is gone. In the
// second case the connection is destroyed, so that its caller gets an error within 6 s.
const default_suspect_after_ms = 1500
const poll_ms = 500
// The answer of a statement that ended just before the check arrives within this time.
const under_way_ms = 250
const close_timeout_ms = 1000

export type PoolWatch = ReturnType<typeof watchPool>

/** The process id of the server for a connection. */
const pidOf = (client: pg.ClientBase) => (client as { processID?: number }).processID ?? 0

/**
 * Destroys connections of a pool that wait for an answer while the server runs no statement for them. A check begins when
 * an answer takes longer than `suspect_after_ms`, and waits as long for a new connection.
 */
export function watchPool(pool: Pool, url: string, suspect_after_ms = default_suspect_after_ms) {
  const all = new Set<PoolClient>()
  const waiting = new Map<PoolClient, { unanswered: number; since_ms: number }>()
  let next_check_ms = 0
  let answered_ms = 0
  pool.on('connect', (client) => void all.add(client))
  pool.on('remove', (client) => void all.delete(client))

  async function check(): Promise<void> {
    const at_ms = performance.now()
    const is_late = [...waiting.values()].some(({ since_ms }) => at_ms - since_ms > suspect_after_ms)
    if (at_ms < next_check_ms || !is_late) return
    next_check_ms = Infinity
    const active = await activePids(url, suspect_after_ms)
    next_check_ms = performance.now() + suspect_after_ms
    // A busy server, or one without a free connection, may open none in time while it answers on the others.
    if (active === 'unknown' || (!active.size && answered_ms >= at_ms)) return
    await pause(under_way_ms, undefined, { ref: false })
    // The timer may come before the answers that have arrived.
    await turn()
    // While a server hangs, the check takes as long as suspect_after_ms. So statements sent shortly before it are late now.
    const dead = [...waiting].filter(
      ([client, { since_ms }]) =>
        since_ms <= at_ms && performance.now() - since_ms > suspect_after_ms && !active.has(pidOf(client)),
    )
    if (!dead.length) return
    for (const [client] of dead) destroyConnection(client)
    // The idle connections may be dead too. Close them, so that no request has to find out.
    await Promise.all(Array.from({ length: pool.idleCount }, () => pool.connect().then(discard, () => {})))
  }
  const discard = (client: PoolClient) => client.release(true)
  const timer = setInterval(() => void check(), poll_ms).unref()

  return {
    /** Call this before each statement. */
    sent(client: PoolClient): void {
      const entry = waiting.get(client)
      if (entry) entry.unanswered++
      else waiting.set(client, { unanswered: 1, since_ms: performance.now() })
    },
    /** Call this after each statement, also after an error. */
    answered(client: PoolClient): void {
      const entry = waiting.get(client)
      if (!entry) return
      answered_ms = performance.now()
      // An answer shows that the connection works, so the other answers get more time.
      entry.since_ms = answered_ms
      if (--entry.unanswered === 0) waiting.delete(client)
    },
    /** Closes the pool. After 1 s it destroys the remaining connections. */
    async close(): Promise<void> {
      clearInterval(timer)
      const deadline = setTimeout(() => {
        for (const client of all) destroyConnection(client)
      }, close_timeout_ms)
      await pool.end()
      clearTimeout(deadline)
    },
  }
}

/**
 * The process ids for which the server runs a statement now; none when the server does not answer. "unknown" behind a
 * pooler, where the server has other ids, and on services that hide them.
 */
async function activePids(url: string, timeout_ms: number): Promise<ReadonlySet<number> | 'unknown'> {
  const limits = { connectionTimeoutMillis: timeout_ms, query_timeout: timeout_ms }
  const probe = new pg.Client({ ...connectionOptions(url), ...limits })
  probe.on('error', () => {})
  try {
    await probe.connect()
    const { rows } = await probe.query("SELECT pid FROM pg_stat_activity WHERE state = 'active'")
    const pids = new Set<number>(rows.map(({ pid }) => pid))
    return pids.has(pidOf(probe)) ? pids : 'unknown'
  } catch (error) {
    return explainLoss(error) instanceof Unreachable ? new Set() : 'unknown'
  } finally {
    void closeConnection(probe)
  }
}
