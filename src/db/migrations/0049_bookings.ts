import type { Migration } from '../migrate.ts'

/**
 * The needs of mails and calendar files of bookings. Of earlier bookings, neither the token of the private link is known, nor
 * the uid of the files that visitors have.
 */
export const bookings: Migration = {
  name: '0049_bookings',
  kind: 'expand',
  scans: ['appointments'],
  statements: () => [
    `CREATE TABLE bookings (
  workspace_id bigint NOT NULL,
  appointment_id bigint NOT NULL,
  uid text,
  sequence bigint NOT NULL DEFAULT 0,
  token text,
  language text,
  time_zone text,
  PRIMARY KEY (workspace_id, appointment_id)
)`,
    'CREATE INDEX bookings_sealed ON bookings (workspace_id, appointment_id) WHERE token IS NOT NULL',
    // As the files of earlier versions counted.
    `INSERT INTO bookings (workspace_id, appointment_id, sequence)
SELECT a.workspace_id, a.id, (SELECT count(*) FROM audit_log AS l
  WHERE l.workspace_id = a.workspace_id AND l.kind = 'appointments' AND l.record_id = CAST(a.id AS text))
FROM appointments AS a WHERE a.link_hash IS NOT NULL`,
  ],
}
