import type { Migration } from '../migrate.ts'
import { liveIndex, trashIndex } from './parts.ts'

/**
 * The indexes of every order of a list, of the trash, and of the feed of events. Each order can also be read backwards.
 */
export const listOrders: Migration = {
  name: '0004_list_orders',
  kind: 'contract',
  statements: () => [
    ...['companies', 'contacts', 'deals'].flatMap((table) => [
      liveIndex(table, 'by_name', 'sort_name'),
      liveIndex(table, 'by_creation', 'created_at'),
      liveIndex(table, 'by_change', 'updated_at'),
      trashIndex(table),
    ]),
    // A record without a value comes after every value, and one without a date after every date.
    liveIndex('deals', 'by_value', 'coalesce(value_units, -1) DESC, sort_name'),
    liveIndex('deals', 'by_close_date', "coalesce(expected_close_date, 'z')"),
    trashIndex('notes'),
    'CREATE INDEX events_feed ON events (workspace_id, seq)',
  ],
}
