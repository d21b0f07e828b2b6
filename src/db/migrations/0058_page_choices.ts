import type { Migration } from '../migrate.ts'

/** The durations that visitors may choose from, and the origins that may show a booking page in a frame. */
export const pageChoices: Migration = {
  name: '0058_page_choices',
  kind: 'expand',
  statements: () => [
    "ALTER TABLE booking_pages ADD COLUMN durations text NOT NULL DEFAULT 'null'",
    "ALTER TABLE booking_pages ADD COLUMN embed_origins text NOT NULL DEFAULT '[]'",
  ],
}
