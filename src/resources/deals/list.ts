import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { countOf } from '../../db/lists/counts.ts'
import { equals, type Filter, within } from '../../db/lists/filters.ts'
import { type Found, findRecords, type Page } from '../../db/lists/lists.ts'
import { dated, newest_first, type Order, type Sorting } from '../../db/lists/orders.ts'
import { byIds } from '../../db/lists/pages.ts'
import { isLive } from '../../db/references.ts'
import { dealsWithReferences, detailedDeals, storedDeal } from './queries.ts'
import type { Deal, ListedDeal } from './schema.ts'
import { type Stage, type Status, shownProbability, statusOf } from './stages.ts'
import { fromUnits } from './value.ts'

const by_close_date = sql`coalesce(expected_close_date, 'z')`

/**
 * What deals can be sorted by: -value,name as the sales team wants it. Deals without a value count as less than any,
 * those without a date as later than any.
 */
export const orders: readonly Order[] = [
  ...dated,
  [{ field: 'name', by: sql.ref('sort_name') }],
  [
    { field: 'value', by: sql`coalesce(value_units, -1)`, numeric: true, descending: true },
    { field: 'name', by: sql.ref('sort_name') },
  ],
  [{ field: 'expected_close_date', by: by_close_date }],
]

type Asked = {
  stage?: Stage | undefined
  status?: Status | undefined
  contact_id?: number | undefined
  company_id?: number | undefined
  /** What every list of records can be filtered by. */
  filters?: Filter[]
  /** The detail view of each, in place of the list view. */
  details?: boolean | undefined
}

/** Deals that are expected to close on these days, both included. Those without a date are on none. */
export const closingFilter = (from: string | undefined, to: string | undefined): Filter[] =>
  // The order's own expression, so that its index answers; every day comes before its end.
  within('expected_close_date', from, to ?? (from && '9999-12-31'), by_close_date)

/** One page of the live deals that meet all filters; `total` and `next` as in findRecords. */
export async function listDeals(
  db: Db,
  workspace_id: number,
  { filters: common = [], details = false, ...asked }: Asked,
  page: Page,
  sorting: Sorting = newest_first,
): Promise<Pick<Found, 'total' | 'next'> & { deals: (ListedDeal | Deal)[] }> {
  const nothing = { deals: [], total: 'offset' in page ? 0 : null, next: null }
  const values = { ...asked }
  // A stage has one status: both together match what the stage alone matches, or nothing.
  if (values.stage && values.status && statusOf(values.stage) !== values.status) return nothing
  if (values.stage) delete values.status
  const { contact_id, company_id } = values
  // A reference to a record in the trash reads null, so no deal shows the id of one.
  if (contact_id && !(await isLive(db, 'contacts', workspace_id, contact_id))) return nothing
  if (company_id && !(await isLive(db, 'companies', workspace_id, company_id))) return nothing

  const filters = [...common]
  for (const [name, value] of Object.entries(values))
    if (value !== undefined)
      filters.push(equals(name, value, await countOf(db, workspace_id, `deals.${name}=${value}`)))
  const found = await findRecords(db, { table: 'deals', workspace_id, filters, sorting, page })
  const { ids, total, next } = found
  const deals = details
    ? (await withDetails(db, workspace_id, ids)).map((row) => storedDeal(row).shown)
    : await dealsByIds(db, workspace_id, ids)
  return { total, next, deals }
}

/** Deals as the list shows them, in the order of their ids. */
export async function dealsByIds(db: Db, workspace_id: number, ids: number[]): Promise<ListedDeal[]> {
  return (await withIds(db, workspace_id, ids)).map(listed)
}

type Row = Awaited<ReturnType<typeof withIds>>[number]

function listed({ value_units, own_probability, closed_probability, ...same }: Row): ListedDeal {
  const stage = same.stage as Stage
  const state = { stage, own_probability, closed_probability }
  return { ...same, stage, value: fromUnits(value_units), probability: shownProbability(state) }
}

const withDetails = byIds('deals', (db, those) => detailedDeals(db).where(those))

const withIds = byIds('deals', (db, those) =>
  dealsWithReferences(db)
    .select([
      'deals.id',
      'deals.name',
      'deals.value_units',
      'deals.own_probability',
      'deals.closed_probability',
      'deals.stage',
      'contacts.id as contact_id',
      'companies.id as company_id',
      'deals.expected_close_date',
      'deals.status',
    ])
    .where(those),
)
