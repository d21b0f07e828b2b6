import { type Generated, sql } from 'kysely'
import { defineResource, type TableOf } from '../resource.ts'
import { activityCompleted, activityCreated } from './events.ts'
import { columns } from './schema.ts'

/** An activity without a due date comes after every date. A letter: some collations of PostgreSQL put signs before digits. */
export const by_due_date = sql`coalesce(due_at, 'z')`

/** Activities: an extension of the interface. */
export const activities = defineResource({
  table: 'activities',
  noun: 'activity',
  about: 'Calls, e-mails, meetings and tasks, with their outcomes.',
  columns,
  title: { fields: ['subject'] },
  sort_name: ['subject'],
  subtitle: 'type',
  orders: [[{ field: 'subject', by: sql.ref('sort_name') }], [{ field: 'due_at', by: by_due_date }]],
  filter_aliases: { due: 'due_at' },
  unfinished: { by: 'due_at', where: sql`completed_at IS NULL` },
  events: [activityCreated, activityCompleted],
  timeline: { type: 'activity', rank: 2 },
})

declare module '../../db/tables.ts' {
  interface Tables {
    activities: TableOf<typeof columns> & { sort_name: Generated<string> }
  }
}
