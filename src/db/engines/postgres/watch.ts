import pg, { type Pool, type PoolClient } from 'pg'
import { explainLoss, Unreachable } from '../../errors.ts'
import { connectionOptions, cut, hangUp } from './connection.ts'

// Nearly every statement is answered within milliseconds. What takes longer may be work, or a server or a network that
// is gone without a word: then the connection is given up, so that whoever waits for it is told within six seconds.
const patience_ms = 1500
const look_ms = 500
const goodbye_ms = 1000

export type Watch = ReturnType<typeof watchPool>

/** The server's number for a connection. */
const numberOf = (client: pg.ClientBase) => (client as { processID?: number }).processID ?? 0

/** Ends connections of a pool on which an answer is waited for while the server does not work for it. */
export function watchPool(pool: Pool, url: string) {
  const all = new Set<PoolClient>()
  const waiting = new Map<PoolClient, { unanswered: number; since: number }>()
  let quiet_until = 0
  pool.on('connect', (client) => void all.add(client))
  pool.on('remove', (client) => void all.delete(client))

  async function look(): Promise<void> {
    const now = performance.now()
    const late = [...waiting].filter(([, { since }]) => now - since > patience_ms)
    if (now < quiet_until || !late.length) return
    quiet_until = Infinity
    const busy = await workingFor(url)
    quiet_until = performance.now() + patience_ms
    if (busy === 'cannot tell') return
    const dead = late.filter(([client, { unanswered, since }]) => {
      const answered_meanwhile = unanswered === 0 || now - since <= patience_ms
      return !answered_meanwhile && !busy.has(numberOf(client))
    })
    if (!dead.length) return
    for (const [client] of dead) cut(client)
    // What ended them may have ended those that nobody uses: a request each would have to find out.
    await Promise.all(Array.from({ length: pool.idleCount }, () => pool.connect().then(giveUp, () => {})))
  }
  const giveUp = (client: PoolClient) => client.release(true)
  const timer = setInterval(() => void look(), look_ms).unref()

  return {
    /** A statement goes out. */
    asked(client: PoolClient): void {
      const entry = waiting.get(client)
      if (entry) entry.unanswered++
      else waiting.set(client, { unanswered: 1, since: performance.now() })
    },
    /** A statement is answered, by whatever. */
    answered(client: PoolClient): void {
      const entry = waiting.get(client)
      if (!entry) return
      // One of several answers shows that the others may come.
      entry.since = performance.now()
      if (--entry.unanswered === 0) waiting.delete(client)
    },
    /** Closes the pool, without waiting long for a server that does not say goodbye. */
    async close(): Promise<void> {
      clearInterval(timer)
      const late = setTimeout(() => {
        for (const client of all) cut(client)
      }, goodbye_ms)
      await pool.end()
      clearTimeout(late)
    },
  }
}

/**
 * The numbers of the connections that the server works for right now; none when it does not even answer this. A pooler's
 * server knows other connections than ours, and some services tell of none.
 */
async function workingFor(url: string): Promise<ReadonlySet<number> | 'cannot tell'> {
  const limits = { connectionTimeoutMillis: patience_ms, query_timeout: patience_ms }
  const probe = new pg.Client({ ...connectionOptions(url), ...limits })
  probe.on('error', () => {})
  try {
    await probe.connect()
    const { rows } = await probe.query("SELECT pid FROM pg_stat_activity WHERE state = 'active'")
    const pids = new Set<number>(rows.map(({ pid }) => pid))
    return pids.has(numberOf(probe)) ? pids : 'cannot tell'
  } catch (error) {
    return explainLoss(error) instanceof Unreachable ? new Set() : 'cannot tell'
  } finally {
    void hangUp(probe)
  }
}
