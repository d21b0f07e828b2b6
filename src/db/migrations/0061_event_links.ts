import type { Migration } from '../migrate.ts'

/** Whether events of a page's bookings have the links that cancel and move them. */
export const eventLinks: Migration = {
  name: '0061_event_links',
  kind: 'expand',
  statements: () => ['ALTER TABLE booking_pages ADD COLUMN links_in_events smallint NOT NULL DEFAULT 0'],
}
