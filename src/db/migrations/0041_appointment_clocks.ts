import { sql } from 'kysely'
import type { Migration } from '../migrate.ts'
import type { Tx } from '../tx.ts'

/**
 * The zone of the wall clock by which an appointment was agreed, and the offset of this clock at its start. Appointments that
 * older processes write have neither.
 */
export const appointmentClocks: Migration = {
  name: '0041_appointment_clocks',
  kind: 'expand',
  scans: ['appointments'],
  statements: () => [
    'ALTER TABLE appointments ADD COLUMN time_zone text',
    'ALTER TABLE appointments ADD COLUMN utc_offset_minutes bigint',
  ],
  fill: async (tx, { now }) => {
    for (let after = 0; ; ) {
      const rows = await ahead(tx, now, after)
      const last = rows.at(-1)
      if (!last) return
      for (const [clock, ids] of byClock(rows)) {
        const [time_zone, minutes] = clock.split(' ')
        await sql`UPDATE appointments SET time_zone = ${time_zone}, utc_offset_minutes = ${Number(minutes)}
          WHERE id IN (${sql.join(ids)})`.execute(tx)
      }
      after = last.id
    }
  },
}

type Row = { id: number; start_at: string; time_zone: string }

/** The next appointments that lie ahead, with the zone of their page, or else of their owner. */
async function ahead(tx: Tx, now: string, after: number): Promise<Row[]> {
  const { rows } = await sql<Row>`
    SELECT a.id, a.start_at, coalesce(p.time_zone, u.time_zone) AS time_zone FROM appointments a
    LEFT JOIN booking_pages p ON p.id = a.booking_page_id
    LEFT JOIN users u ON u.id = a.owner_id
    WHERE a.id > ${after} AND a.start_at > ${now} AND coalesce(p.time_zone, u.time_zone) IS NOT NULL
    ORDER BY a.id LIMIT 1000`.execute(tx)
  return rows
}

/** Versions before this one had the zone data of Node. */
function byClock(rows: readonly Row[]): Map<string, number[]> {
  const found = new Map<string, number[]>()
  for (const { id, start_at, time_zone } of rows) {
    const clock = `${time_zone} ${offsetOf(start_at, time_zone)}`
    found.set(clock, [...(found.get(clock) ?? []), id])
  }
  return found
}

const formats = new Map<string, Intl.DateTimeFormat>()

/** The offset of a zone at a time, in minutes. */
function offsetOf(time: string, time_zone: string): number {
  let format = formats.get(time_zone)
  if (!format) {
    const parts = { dateStyle: 'short', timeStyle: 'medium', timeZone: time_zone } as const
    // The Swedish format is that of ISO 8601.
    format = new Intl.DateTimeFormat('sv-SE', parts)
    formats.set(time_zone, format)
  }
  const at_ms = Math.floor(Date.parse(time) / 1000) * 1000
  return Math.round((Date.parse(`${format.format(at_ms).replace(' ', 'T')}Z`) - at_ms) / 60_000)
}
