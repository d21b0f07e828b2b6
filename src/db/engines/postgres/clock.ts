import { sql } from 'kysely'
import type { WallClock } from '../../../clock.ts'
import type { Db } from '../../db.ts'

const every_ms = 5000
// The time of a slower reading is not known precisely enough.
const max_reading_ms = 250

/**
 * The server's clock, read at the start and every 5 s. Between readings it advances with this machine's clock. So all
 * processes show the same time, even if the clock of a machine is wrong.
 */
export async function followClock(db: Db, own: WallClock): Promise<WallClock & { stop(): void }> {
  let ahead_ms = 0
  async function read(timeout_ms: number) {
    const before = own.now()
    const { rows } = await sql<{ ms: number }>`
      SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms`.execute(db)
    const after = own.now()
    if (after - before <= timeout_ms) ahead_ms = Number(rows[0]?.ms) - (before + after) / 2
  }
  await read(Infinity)
  const timer = setInterval(() => void read(max_reading_ms).catch(() => {}), every_ms).unref()
  return { now: () => Math.round(own.now() + ahead_ms), stop: () => clearInterval(timer) }
}
