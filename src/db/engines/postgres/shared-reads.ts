import type { Pool, PoolClient } from 'pg'

// A connection without an answer for this time takes no more reads: they would wait behind a slow one.
const slow_ms = 20
// A connection with this many unanswered reads is busy: the next read takes a further connection.
const busy_reads = 2
// A read that was lost later is not repeated. The second one may wait 5 s for a connection, and a request is answered
// within 6 s.
const repeat_within_ms = 500

/** A connection that several reads share. */
type Lane = {
  client: Promise<PoolClient>
  unanswered: number
  broken: boolean
  /** The time of its last answer, or of its first read. */
  since_ms: number
}

type Read<T> = (client: PoolClient) => Promise<T>

/**
 * Lets concurrent reads share at most a third of the pool's connections, so that statements and answers travel together.
 * `isLost` says whether an error means that the connection is lost. All reads on it fail then, so each is repeated once on
 * a connection of its own.
 */
export function createSharedReads(
  pool: Pool,
  isLost: (error: unknown) => boolean,
  now_ms = () => performance.now(),
) {
  const max_lanes = Math.floor(pool.options.max / 3)
  const lanes = new Set<Lane>()

  const connect = (): Lane => ({
    client: pool.connect(),
    unanswered: 0,
    broken: false,
    since_ms: now_ms(),
  })

  function enter(): Lane {
    const at_ms = now_ms()
    let best: Lane | null = null
    for (const lane of lanes)
      if (at_ms - lane.since_ms < slow_ms && (!best || lane.unanswered < best.unanswered)) best = lane
    if (best && (best.unanswered < busy_reads || lanes.size >= max_lanes)) return best
    const lane = connect()
    if (lanes.size < max_lanes) lanes.add(lane)
    return lane
  }

  async function leave(lane: Lane): Promise<void> {
    lane.since_ms = now_ms()
    lane.unanswered--
    if (lane.broken || lane.unanswered === 0) lanes.delete(lane)
    if (lane.unanswered > 0) return
    const client = await lane.client.catch(() => null)
    client?.release(lane.broken || undefined)
  }

  async function readOn<T>(lane: Lane, read: Read<T>): Promise<T> {
    lane.unanswered++
    try {
      return await read(await lane.client)
    } catch (error) {
      lane.broken ||= isLost(error)
      throw error
    } finally {
      void leave(lane)
    }
  }

  return async <T>(read: Read<T>): Promise<T> => {
    const start_ms = now_ms()
    try {
      return await readOn(enter(), read)
    } catch (error) {
      if (!isLost(error) || now_ms() - start_ms > repeat_within_ms) throw error
      return readOn(connect(), read)
    }
  }
}
