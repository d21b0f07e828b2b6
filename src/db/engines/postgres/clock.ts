import { sql } from 'kysely'
import type { WallClock } from '../../../clock.ts'
import type { Db } from '../../db.ts'

const every_ms = 5000
// The time of a slower reading is not known precisely enough.
export const max_reading_ms = 250
// On a busy machine, the first readings may all be slow. The fastest one is kept.
const first_readings = 10

/**
 * The server's clock, read at the start and every 5 s. Between readings it advances with this machine's clock. So all
 * processes show the same time, even if the clock of a machine is wrong.
 */
export async function followClock(db: Db, own: WallClock): Promise<WallClock & { stop(): void }> {
  let ahead_ms = 0
  /** Reads the clock, and takes its time if the reading was faster than the limit. Returns how long it took. */
  async function read(limit_ms: number): Promise<number> {
    const before = own.now()
    const { rows } = await sql<{ ms: number }>`
      SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms`.execute(db)
    const after = own.now()
    if (after - before <= limit_ms) ahead_ms = Number(rows[0]?.ms) - (before + after) / 2
    return after - before
  }
  let fastest_ms = Infinity
  for (let n = 0; n < first_readings && fastest_ms > max_reading_ms; n++)
    fastest_ms = Math.min(fastest_ms, await read(fastest_ms))
  const timer = setInterval(() => void read(max_reading_ms).catch(() => {}), every_ms).unref()
  return { now: () => Math.round(own.now() + ahead_ms), stop: () => clearInterval(timer) }
}
