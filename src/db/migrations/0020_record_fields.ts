import type { Migration } from '../migrate.ts'
import { liveIndex } from './parts.ts'

const tags = "tags text NOT NULL DEFAULT '[]'"
const custom_fields = "custom_fields text NOT NULL DEFAULT '{}'"
const authors = ['created_by text', 'updated_by text']

const added: Record<string, string[]> = {
  contacts: ['owner_id text', ...authors],
  companies: ['owner_id text', tags, ...authors],
  deals: ['owner_id text', tags, custom_fields, ...authors],
  activities: ['owner_id text', tags, custom_fields, ...authors],
  appointments: ['owner_id text', tags, custom_fields, ...authors],
  notes: authors,
  booking_pages: authors,
}
const owned = Object.keys(added).filter((table) => added[table]?.includes('owner_id text'))

/** The owner, the tags, the custom fields and the authors of records. */
export const recordFields: Migration = {
  name: '0020_record_fields',
  kind: 'expand',
  scans: owned,
  statements: () => [
    ...Object.entries(added).flatMap(([table, columns]) =>
      columns.map((column) => `ALTER TABLE ${table} ADD COLUMN ${column}`),
    ),
    // Records without an owner are in it, too: lists find them by it.
    ...owned.map((table) => liveIndex(table, 'owner_id_live', 'owner_id')),
  ],
}
