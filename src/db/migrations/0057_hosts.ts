import type { Migration } from '../migrate.ts'
import type { EngineName as Engine } from '../tx.ts'
import { busy, int, table } from './parts.ts'

/**
 * Hosts of booking pages. Which times are taken moves from the page of an appointment to calendars: of a page without hosts, of
 * hosts, and of owners. Processes of earlier versions would take a page with hosts for one calendar.
 */
export const hosts: Migration = {
  name: '0057_hosts',
  kind: 'contract',
  scans: ['appointments'],
  statements: (engine) => [
    "ALTER TABLE booking_pages ADD COLUMN hosts text NOT NULL DEFAULT '[]'",
    "ALTER TABLE booking_pages ADD COLUMN assignment text NOT NULL DEFAULT 'fixed'",
    "ALTER TABLE booking_pages ADD COLUMN stale_calendars text NOT NULL DEFAULT 'offer'",
    "ALTER TABLE appointments ADD COLUMN host_ids text NOT NULL DEFAULT '[]'",
    ...withoutOverlapOfPages(engine),
    takenTimes(engine),
    'CREATE INDEX taken_times_by_end ON taken_times (workspace_id, calendar, end_at, start_at, appointment_id)',
    // The bookings of each host of a page.
    `CREATE INDEX appointments_by_host ON appointments (workspace_id, booking_page_id, owner_id, id)
      WHERE booking_page_id IS NOT NULL AND ${held('')}`,
    ...(engine === 'sqlite' ? sqliteTriggers() : postgresTriggers()),
    `INSERT INTO taken_times (workspace_id, appointment_id, calendar, start_at, end_at, is_exclusive)
      SELECT workspace_id, id, CAST(booking_page_id AS text), start_at, end_at, 1 FROM appointments
      WHERE booking_page_id IS NOT NULL AND ${held('')}`,
    `INSERT INTO taken_times (workspace_id, appointment_id, calendar, start_at, end_at, is_exclusive)
      SELECT workspace_id, id, owner_id, start_at, end_at, 0 FROM appointments
      WHERE owner_id IS NOT NULL AND ${held('')}`,
  ],
}

const held = (row: '' | 'new.') => `${row}status IN ('scheduled', 'requested') AND ${row}deleted_at IS NULL`

const withoutOverlapOfPages = (engine: Engine): string[] =>
  engine === 'sqlite'
    ? [
        'DROP TRIGGER appointments_overlap_insert',
        'DROP TRIGGER appointments_overlap_update',
        'DROP INDEX appointments_taken',
      ]
    : ['ALTER TABLE appointments DROP CONSTRAINT appointments_overlap', 'DROP INDEX appointments_taken']

// A calendar is a person or a booking page, by its id. Exclusive times of one calendar never overlap: the database refuses the
// second. Times are texts of one length, whose order is that of time.
const takenTimes = (engine: Engine): string =>
  table(
    'taken_times',
    [
      `workspace_id ${int(engine)} NOT NULL, appointment_id ${int(engine)} NOT NULL, calendar text NOT NULL,
      start_at text NOT NULL, end_at text NOT NULL, is_exclusive smallint NOT NULL,
      PRIMARY KEY (workspace_id, appointment_id, calendar)`,
      ...(engine === 'sqlite'
        ? []
        : [
            `CONSTRAINT appointments_overlap EXCLUDE USING gist (
        workspace_id WITH =, calendar WITH =, time_text_range(start_at, end_at) WITH &&
      ) WHERE (is_exclusive = 1)`,
          ]),
    ],
    busy(engine),
  )

// The times of appointments that members make are not exclusive: a member may be at two places.
const timesOf = (hosts: string) => `INSERT INTO taken_times
    (workspace_id, appointment_id, calendar, start_at, end_at, is_exclusive)
    SELECT new.workspace_id, new.id, calendar, new.start_at, new.end_at, max(is_exclusive) FROM (
      SELECT CAST(new.booking_page_id AS text) AS calendar, CASE new.host_ids WHEN '[]' THEN 1 ELSE 0 END AS is_exclusive
      UNION ALL SELECT new.owner_id, 0
      UNION ALL SELECT value, 1 FROM ${hosts}
    ) AS calendars WHERE calendar IS NOT NULL AND ${held('new.')} GROUP BY calendar;`

const changes = 'UPDATE OF start_at, end_at, booking_page_id, owner_id, host_ids, status, deleted_at'

function sqliteTriggers(): string[] {
  const add = timesOf('json_each(new.host_ids)')
  const forget = 'DELETE FROM taken_times WHERE workspace_id = old.workspace_id AND appointment_id = old.id;'
  return [
    'CREATE INDEX taken_times_exclusive ON taken_times (workspace_id, calendar, start_at) WHERE is_exclusive = 1',
    // No two overlap. So only the last one that begins before the end of the new one can overlap the new one.
    `CREATE TRIGGER taken_times_overlap BEFORE INSERT ON taken_times WHEN new.is_exclusive = 1 BEGIN
  SELECT RAISE(ABORT, 'appointments_overlap') WHERE (
    SELECT end_at FROM taken_times
    WHERE workspace_id = new.workspace_id AND calendar = new.calendar AND is_exclusive = 1 AND start_at < new.end_at
    ORDER BY start_at DESC LIMIT 1
  ) > new.start_at; END`,
    `CREATE TRIGGER appointments_times_insert AFTER INSERT ON appointments BEGIN ${add} END`,
    `CREATE TRIGGER appointments_times_update AFTER ${changes} ON appointments BEGIN ${forget} ${add} END`,
    `CREATE TRIGGER appointments_times_remove AFTER DELETE ON appointments BEGIN ${forget} END`,
  ]
}

const postgresTriggers = (): string[] => [
  `CREATE FUNCTION keep_taken_times() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    DELETE FROM taken_times WHERE workspace_id = old.workspace_id AND appointment_id = old.id;
  END IF;
  IF TG_OP <> 'DELETE' THEN
    ${timesOf('json_array_elements_text(new.host_ids::json)')}
  END IF;
  RETURN NULL;
END $$`,
  `CREATE TRIGGER appointments_times AFTER INSERT OR ${changes} OR DELETE ON appointments
    FOR EACH ROW EXECUTE FUNCTION keep_taken_times()`,
]
