import { type Generated, sql } from 'kysely'
import { fact_orders } from '../fact-orders.ts'
import { defineResource, type TableOf } from '../resource.ts'
import { contactCreated, contactDeleted, contactUpdated } from './events.ts'
import { columns } from './schema.ts'

/** Contacts: people, of a company or none. */
export const contacts = defineResource({
  table: 'contacts',
  noun: 'contact',
  about: 'People, and the notes about them.',
  extension: false,
  columns,
  title: { fields: ['first_name', 'last_name'] },
  subtitle: 'email',
  sort_name: ['last_name', 'first_name'],
  search_text: ['first_name', 'last_name', 'email'],
  search_index: true,
  orders: [[{ field: 'last_name', by: sql.ref('sort_name') }], ...fact_orders],
  events: [contactCreated, contactUpdated, contactDeleted],
  has_timeline: true,
  duplicates: ['email', 'phone', 'name'],
})

declare module '../../db/tables.ts' {
  interface Tables {
    contacts: TableOf<typeof columns> & {
      sort_name: Generated<string>
      /** Names and e-mail, lower case and without accents, for the search. */
      search_text: string
    }
  }
}
