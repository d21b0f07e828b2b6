import { sql } from 'kysely'
import type { WallClock } from '../../../clock.ts'
import type { Db } from '../../db.ts'

const every_ms = 5000
// A reading that took longer says too little about when it was made.
const longest_reading_ms = 250

/**
 * The server's clock, read at the start and every five seconds; between readings this machine's clock carries it on. So
 * the times that processes on several machines show agree, however wrong a machine's own time is.
 */
export async function followClock(db: Db, own: WallClock): Promise<WallClock & { stop(): void }> {
  let ahead_ms = 0
  async function read(limit_ms: number) {
    const before = own.now()
    const { rows } = await sql<{ ms: number }>`
      SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms`.execute(db)
    const after = own.now()
    if (after - before <= limit_ms) ahead_ms = Number(rows[0]?.ms) - (before + after) / 2
  }
  await read(Infinity)
  const timer = setInterval(() => void read(longest_reading_ms).catch(() => {}), every_ms).unref()
  return { now: () => Math.round(own.now() + ahead_ms), stop: () => clearInterval(timer) }
}
