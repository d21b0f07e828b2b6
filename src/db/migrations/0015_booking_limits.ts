import type { Migration } from '../migrate.ts'

/**
 * The limits of bookings on a page, and whether a member must approve them. A request holds its time as a scheduled
 * appointment does.
 */
export const bookingLimits: Migration = {
  name: '0015_booking_limits',
  kind: 'contract',
  statements: (engine) => {
    const int = engine === 'sqlite' ? 'INTEGER' : 'bigint'
    const columns = [
      'open_bookings_per_email bigint NOT NULL DEFAULT 3',
      'bookings_per_address_per_day bigint NOT NULL DEFAULT 10',
      'bookings_per_hour bigint NOT NULL DEFAULT 30',
      // 0 or 1
      'approval smallint NOT NULL DEFAULT 0',
    ]
    return [
      ...columns.map((column) => `ALTER TABLE booking_pages ADD COLUMN ${column}`),
      // Only bookings of the last day. The address is a keyed hash. booked_at_ms is service time.
      `CREATE TABLE booking_visits (
        workspace_id ${int} NOT NULL, booking_page_id ${int} NOT NULL, appointment_id ${int} NOT NULL,
        address_hash text NOT NULL, booked_at_ms ${int} NOT NULL,
        PRIMARY KEY (workspace_id, booking_page_id, appointment_id)
      )`,
      'CREATE INDEX booking_visits_time ON booking_visits (workspace_id, booking_page_id, booked_at_ms)',
      'CREATE INDEX booking_visits_age ON booking_visits (booked_at_ms)',
      "CREATE INDEX appointments_requested ON appointments (created_at) WHERE status = 'requested' AND deleted_at IS NULL",
      ...(engine === 'sqlite' ? heldOnSqlite : heldOnPostgres),
    ]
  },
}

const held = "status IN ('scheduled', 'requested') AND deleted_at IS NULL"

const heldOnPostgres = [
  'ALTER TABLE appointments DROP CONSTRAINT appointments_overlap',
  `ALTER TABLE appointments ADD CONSTRAINT appointments_overlap EXCLUDE USING gist (
    workspace_id WITH =, booking_page_id WITH =, time_text_range(start_at, end_at) WITH &&
  ) WHERE (booking_page_id IS NOT NULL AND ${held})`,
  'DROP INDEX appointments_taken',
  `CREATE INDEX appointments_taken ON appointments (workspace_id, booking_page_id, start_at)
    WHERE booking_page_id IS NOT NULL AND ${held}`,
]

// As in 0006: no two overlap, so only the last one that begins before the end of the new one can overlap it.
const check = `
  SELECT RAISE(ABORT, 'appointments_overlap') WHERE (
    SELECT end_at FROM appointments
    WHERE booking_page_id = new.booking_page_id AND ${held}
      AND start_at < new.end_at AND id <> new.id
    ORDER BY start_at DESC LIMIT 1
  ) > new.start_at;`
const taken =
  "new.booking_page_id IS NOT NULL AND new.status IN ('scheduled', 'requested') AND new.deleted_at IS NULL"

const heldOnSqlite = [
  'DROP TRIGGER appointments_overlap_insert',
  'DROP TRIGGER appointments_overlap_update',
  'DROP INDEX appointments_taken',
  `CREATE INDEX appointments_taken ON appointments (booking_page_id, start_at)
    WHERE booking_page_id IS NOT NULL AND ${held}`,
  `CREATE TRIGGER appointments_overlap_insert AFTER INSERT ON appointments WHEN ${taken} BEGIN ${check} END`,
  `CREATE TRIGGER appointments_overlap_update AFTER UPDATE OF start_at, end_at, booking_page_id, status, deleted_at
    ON appointments WHEN ${taken} BEGIN ${check} END`,
]
