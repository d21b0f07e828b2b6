import type { Migration } from '../migrate.ts'
import type { EngineName as Engine } from '../tx.ts'

const now = (engine: Engine) =>
  engine === 'sqlite'
    ? "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')"
    : `to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** Reminders of bookings: when one is looked at next, those that were made, and the addresses that want none. */
export const reminders: Migration = {
  name: '0062_reminders',
  kind: 'expand',
  scans: ['appointments'],
  statements: (engine) => [
    "ALTER TABLE booking_pages ADD COLUMN reminders_minutes text NOT NULL DEFAULT '[1440]'",
    'ALTER TABLE bookings ADD COLUMN remind_at text',
    "ALTER TABLE bookings ADD COLUMN reminded text NOT NULL DEFAULT '[]'",
    'CREATE INDEX bookings_remind ON bookings (remind_at) WHERE remind_at IS NOT NULL',
    `UPDATE bookings SET remind_at = ${now(engine)} WHERE EXISTS (SELECT 1 FROM appointments AS a
      WHERE a.workspace_id = bookings.workspace_id AND a.id = bookings.appointment_id AND a.status = 'scheduled'
        AND a.deleted_at IS NULL AND a.link_hash IS NOT NULL AND a.start_at > ${now(engine)})`,
    `CREATE TABLE reminder_stops (
  workspace_id bigint NOT NULL,
  address_hash text NOT NULL,
  PRIMARY KEY (workspace_id, address_hash)
)`,
  ],
}
