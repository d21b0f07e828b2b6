import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { countOf } from '../../db/lists/counts.ts'
import { equals, type Filter, within } from '../../db/lists/filters.ts'
import { type Found, findRecords, type Page } from '../../db/lists/lists.ts'
import { dated, type Order, type Sorting } from '../../db/lists/orders.ts'
import { byIds } from '../../db/lists/pages.ts'
import { isLive, links } from '../../db/references.ts'
import { activitiesWithReferences, counted, listed_columns } from './queries.ts'
import type { ActivityOfList, ActivityStatus, ActivityType, ListedActivity } from './schema.ts'

// Without a due date comes after every date. A letter: some collations of PostgreSQL put signs before digits.
const due = sql`coalesce(due_at, 'z')`
const last_time = '9999-12-31T23:59:59.999Z'

/** What activities can be sorted by. */
export const orders: readonly Order[] = [...dated, [{ field: 'due_at', by: due }]]

const references = links.activities

type Asked = {
  type?: ActivityType | undefined
  status?: ActivityStatus | undefined
  /** Both inclusive. */
  due_from?: string | undefined
  due_to?: string | undefined
  contact_id?: number | undefined
  company_id?: number | undefined
  deal_id?: number | undefined
  /** What every list of records can be filtered by. */
  filters: Filter[]
  /** By which an activity is overdue or not. */
  now: string
  /** The names of what each refers to, beside the list view. */
  details: boolean
}

/** One page of the live activities that meet all filters; `total` and `next` as in findRecords. */
export async function listActivities(
  db: Db,
  workspace_id: number,
  asked: Asked,
  page: Page,
  sorting: Sorting,
): Promise<Pick<Found, 'total' | 'next'> & { activities: ActivityOfList[] }> {
  // A link to a record in the trash reads null, so no activity shows the id of one.
  for (const [link, table] of Object.entries(references)) {
    const id = asked[link as keyof typeof references]
    if (id !== undefined && !(await isLive(db, table, workspace_id, id)))
      return { activities: [], total: 'offset' in page ? 0 : null, next: null }
  }
  const { due_from, due_to, status } = asked
  const filters = [...asked.filters]
  for (const name of counted) {
    const value = asked[name]
    if (value === undefined) continue
    filters.push(equals(name, value, await countOf(db, workspace_id, `activities.${name}=${value}`)))
  }
  // No range reaches to what has no due date.
  if (due_from !== undefined || due_to !== undefined)
    filters.push(...within('due_at', due_from, due_to ?? last_time, due))
  if (status === 'completed') filters.push(await completed(db, workspace_id))
  else if (status) filters.push(status === 'open' ? open : overdue(asked.now))

  const found = await findRecords(db, { table: 'activities', workspace_id, filters, sorting, page })
  const { ids, total, next } = found
  const activities = await (asked.details ? namedByIds : activitiesByIds)(db, workspace_id, ids)
  return { activities, total, next }
}

/** Activities as the list shows them, in the order of their ids. */
export async function activitiesByIds(
  db: Db,
  workspace_id: number,
  ids: number[],
): Promise<ListedActivity[]> {
  return (await withIds(db, workspace_id, ids)).map((row) => ({ ...row, type: row.type as ActivityType }))
}

async function namedByIds(db: Db, workspace_id: number, ids: number[]): Promise<ActivityOfList[]> {
  const rows = await withNames(db, workspace_id, ids)
  return rows.map(({ type, first_name, last_name, company_name, deal_name, ...row }) => {
    const { contact_id, company_id, deal_id } = row
    return {
      ...row,
      type: type as ActivityType,
      contact:
        contact_id === null
          ? null
          : { id: contact_id, first_name: first_name ?? '', last_name: last_name ?? '' },
      company: company_id === null ? null : { id: company_id, name: company_name ?? '' },
      deal: deal_id === null ? null : { id: deal_id, name: deal_name ?? '' },
    }
  })
}

// The field is that of the order whose index holds only what is open.
const open: Filter = {
  field: 'due_at',
  where: sql`completed_at IS NULL`,
  plain: sql`coalesce(completed_at, null) IS NULL`,
}

const overdue = (now: string): Filter => ({
  field: 'due_at',
  where: sql`completed_at IS NULL AND ${due} < ${now}`,
  plain: sql`coalesce(completed_at, null) IS NULL AND coalesce(due_at, null) < ${now}`,
})

// No index holds what is completed, but one what is not: that is quickly counted.
async function completed(db: Db, workspace_id: number): Promise<Filter> {
  const { rows } = await sql<{ n: number }>`
    SELECT count(*) AS n FROM activities
    WHERE workspace_id = ${workspace_id} AND deleted_at IS NULL AND completed_at IS NULL`.execute(db)
  const total = Math.max(0, (await countOf(db, workspace_id, 'activities')) - Number(rows[0]?.n))
  const where = sql`completed_at IS NOT NULL` as Filter['where']
  return { where, plain: where, total }
}

const withIds = byIds('activities', (db, those) =>
  activitiesWithReferences(db).select(listed_columns).where(those),
)

const withNames = byIds('activities', (db, those) =>
  activitiesWithReferences(db)
    .select([
      ...listed_columns,
      'contacts.first_name',
      'contacts.last_name',
      'companies.name as company_name',
      'deals.name as deal_name',
    ])
    .where(those),
)
