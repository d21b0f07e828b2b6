import type { Migration } from '../migrate.ts'
import { blockTriggers } from './0002_record_blocks.ts'
import { liveIndex, recordTable, reference, trashIndex } from './parts.ts'

export const appointments: Migration = {
  name: '0006_appointments',
  kind: 'contract',
  statements: (engine) => [
    recordTable(engine, 'booking_pages', [
      'slug text NOT NULL',
      'title text NOT NULL',
      'description text',
      'duration_minutes bigint NOT NULL',
      'buffer_minutes bigint NOT NULL',
      'minimum_notice_minutes bigint NOT NULL',
      'horizon_days bigint NOT NULL',
      'time_zone text NOT NULL',
      'availability text NOT NULL',
      'date_overrides text NOT NULL',
      // 0 or 1
      'active smallint NOT NULL',
    ]),
    // The public address of a page does not have the workspace. A page in the trash does not block its name.
    'CREATE UNIQUE INDEX booking_pages_slug ON booking_pages (slug) WHERE deleted_at IS NULL',
    liveIndex('booking_pages', 'live', ''),
    liveIndex('booking_pages', 'by_creation', 'created_at'),
    liveIndex('booking_pages', 'by_change', 'updated_at'),
    trashIndex('booking_pages'),
    ...blockTriggers(engine, 'booking_pages'),

    recordTable(
      engine,
      'appointments',
      [
        'title text NOT NULL',
        'type text',
        'start_at text NOT NULL',
        'end_at text NOT NULL',
        'contact_id bigint',
        'booking_page_id bigint',
        'location text',
        'notes text',
        'status text NOT NULL',
        'cancel_reason text',
        // SHA-256 of the private link's token, for those that a visitor booked.
        'link_hash text',
      ],
      [
        reference(engine, 'contact_id', 'contacts'),
        reference(engine, 'booking_page_id', 'booking_pages'),
        'CONSTRAINT appointments_end CHECK (end_at > start_at)',
      ],
    ),
    'CREATE INDEX appointments_link ON appointments (link_hash) WHERE link_hash IS NOT NULL',
    liveIndex('appointments', 'live', ''),
    liveIndex('appointments', 'status_live', 'status'),
    liveIndex('appointments', 'type_live', 'type'),
    liveIndex('appointments', 'contact_id_live', 'contact_id'),
    liveIndex('appointments', 'booking_page_id_live', 'booking_page_id'),
    liveIndex('appointments', 'by_start', 'start_at'),
    liveIndex('appointments', 'by_creation', 'created_at'),
    liveIndex('appointments', 'by_change', 'updated_at'),
    trashIndex('appointments'),
    ...blockTriggers(engine, 'appointments'),
    ...withoutOverlap(engine),
    // A visitor's contact is found by its e-mail (db/lists/letter-case.ts has the same text).
    `CREATE INDEX contacts_by_email ON contacts (workspace_id, lower(email${engine === 'postgres' ? ' COLLATE "C"' : ''}), id)
      WHERE deleted_at IS NULL AND email IS NOT NULL`,
  ],
}

// Two live appointments of one page never overlap: the database refuses the second. Times are texts of one length,
// whose order is that of time.
function withoutOverlap(engine: 'sqlite' | 'postgres'): string[] {
  if (engine === 'postgres')
    return [
      'CREATE EXTENSION IF NOT EXISTS btree_gist',
      'CREATE TYPE time_text_range AS RANGE (subtype = text, collation = "C")',
      `ALTER TABLE appointments ADD CONSTRAINT appointments_overlap EXCLUDE USING gist (
        workspace_id WITH =, booking_page_id WITH =, time_text_range(start_at, end_at) WITH &&
      ) WHERE (booking_page_id IS NOT NULL AND status = 'scheduled' AND deleted_at IS NULL)`,
      `CREATE INDEX appointments_taken ON appointments (workspace_id, booking_page_id, start_at)
        WHERE booking_page_id IS NOT NULL AND status = 'scheduled' AND deleted_at IS NULL`,
    ]
  // No two overlap. So only the last one that begins before the end of the new one can overlap the new one.
  const check = (row: string) => `
    SELECT RAISE(ABORT, 'appointments_overlap') WHERE (
      SELECT end_at FROM appointments
      WHERE booking_page_id = new.booking_page_id AND status = 'scheduled' AND deleted_at IS NULL
        AND start_at < new.end_at AND id <> ${row}.id
      ORDER BY start_at DESC LIMIT 1
    ) > new.start_at;`
  const taken = "new.booking_page_id IS NOT NULL AND new.status = 'scheduled' AND new.deleted_at IS NULL"
  return [
    `CREATE INDEX appointments_taken ON appointments (booking_page_id, start_at)
      WHERE booking_page_id IS NOT NULL AND status = 'scheduled' AND deleted_at IS NULL`,
    `CREATE TRIGGER appointments_overlap_insert AFTER INSERT ON appointments WHEN ${taken} BEGIN ${check('new')} END`,
    `CREATE TRIGGER appointments_overlap_update AFTER UPDATE OF start_at, end_at, booking_page_id, status, deleted_at
      ON appointments WHEN ${taken} BEGIN ${check('new')} END`,
  ]
}
