import { setImmediate as turn } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { zoneOfNode } from '../../zones/zone.ts'
import { type Zone, zoneOf } from '../../zones/zones.ts'

/** The zones of booking pages and of people, in any workspace. */
async function zonesInUse(db: Db): Promise<string[]> {
  const { rows } = await sql<{ time_zone: string }>`
    SELECT time_zone FROM booking_pages WHERE deleted_at IS NULL
    UNION SELECT time_zone FROM users WHERE time_zone IS NOT NULL ORDER BY 1`.execute(db)
  return rows.map(({ time_zone }) => time_zone)
}

// The longest horizon of a booking page.
const horizon_ms = 730 * 86_400_000

/** The zones in use whose rules in the next two years are not those of Node's data. */
export async function differingZones(db: Db, now_ms: number): Promise<string[]> {
  const found: string[] = []
  for (const name of await zonesInUse(db)) {
    const node = zoneOfNode(name)
    if (!node || differs(zoneOf(name), node, now_ms)) found.push(name)
    // Node's data is slow to read.
    await turn()
  }
  return found
}

function differs(one: Zone, other: Zone, from_ms: number): boolean {
  const until_ms = from_ms + horizon_ms
  for (let at_ms = from_ms; at_ms < until_ms; ) {
    if (one.offsetAt(at_ms) !== other.offsetAt(at_ms)) return true
    const [next, others] = [one, other].map((zone) => zone.changeAfter(at_ms) ?? until_ms) as [number, number]
    at_ms = Math.min(next, others)
  }
  return false
}
