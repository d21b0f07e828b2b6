import type { Pool, PoolClient } from 'pg'
import { Unreachable } from '../../errors.ts'

const late = () => new Unreachable('No connection to the database became free in time.')

/**
 * Lends connections to transactions, but leaves one of every five to reads: transactions wait for locks, and reads do
 * not. `connect` throws after the time for which a request waits for a connection.
 */
export function createTransactionPool(pool: Pool) {
  const { max, connectionTimeoutMillis: limit_ms = 0 } = pool.options
  let free = max - Math.floor(max / 5)
  const waiting: (() => void)[] = []

  /** Waits until a transaction before this one has ended. */
  function waitForTurn(): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = () => {
        clearTimeout(timer)
        resolve()
      }
      const timer = setTimeout(() => {
        waiting.splice(waiting.indexOf(begin), 1)
        reject(late())
      }, limit_ms)
      waiting.push(begin)
    })
  }

  /** Lets the transaction begin that has waited longest. */
  function leave(): void {
    const begin = waiting.shift()
    if (begin) begin()
    else free++
  }

  /** Takes a connection of the pool. Releases one that comes after the limit. */
  async function take(limit_ms: number): Promise<PoolClient> {
    const connecting = pool.connect()
    const timeout = Promise.withResolvers<never>()
    const timer = setTimeout(() => timeout.reject(late()), limit_ms)
    try {
      return await Promise.race([connecting, timeout.promise])
    } catch (error) {
      connecting.then(
        (client) => client.release(),
        () => {},
      )
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  return {
    async connect(): Promise<PoolClient> {
      const start_ms = performance.now()
      const has_to_wait = free === 0
      if (has_to_wait) await waitForTurn()
      else free--
      try {
        // Without a wait here, the pool keeps the limit: its error says whether the server answers.
        if (!has_to_wait) return await pool.connect()
        return await take(Math.max(0, limit_ms - (performance.now() - start_ms)))
      } catch (error) {
        leave()
        throw error
      }
    },
    /** Gives a connection back. `broken`: the pool closes it. */
    release(client: PoolClient, broken: boolean): void {
      client.release(broken || undefined)
      leave()
    },
    waiting: () => waiting.length,
  }
}

export type TransactionPool = ReturnType<typeof createTransactionPool>
