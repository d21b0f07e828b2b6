import type { Migration } from '../migrate.ts'

/** The questions of booking pages. */
export const questions: Migration = {
  name: '0060_questions',
  kind: 'expand',
  statements: () => ["ALTER TABLE booking_pages ADD COLUMN questions text NOT NULL DEFAULT '[]'"],
}
