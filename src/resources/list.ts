import type { Db } from '../db/db.ts'
import { countOf } from '../db/lists/counts.ts'
import type { Valued } from '../db/lists/field-values.ts'
import { equals, type Filter } from '../db/lists/filters.ts'
import { findRecords, type Listed, type Page } from '../db/lists/lists.ts'
import type { Sorting } from '../db/lists/orders.ts'
import { nameFilter } from '../db/lists/search.ts'
import { isLive } from '../db/references.ts'
import { dateFilters, searchesNames, valueFilters } from './list-query.ts'
import type { Resource } from './resource.ts'

/** The request of a list. */
export type ListRequest<Query = object> = {
  workspace_id: number
  /** The parameters that the schema accepted. */
  query: Query
  listing: { page: Page; sorting: Sorting }
  /** ISO 8601. */
  now: string
  /** Reads the records in place of the list view, for an export. */
  read?: ReadByIds<object>
}

export type ReadByIds<View> = (db: Db, workspace_id: number, ids: readonly number[]) => Promise<View[]>

/** One page of the live records of a resource that meet the query and `more` filters, as `read` reads them. */
export async function listRecords<View>(
  db: Db,
  resource: Resource,
  request: ListRequest,
  read: ReadByIds<View>,
  more: readonly Filter[] = [],
): Promise<Listed<View>> {
  const filters = await filtersOf(db, resource, request.workspace_id, request.query)
  return filters
    ? listFiltered(db, resource, request, read, [...filters, ...more])
    : emptyPage(request.listing)
}

/** The same, of the live records that meet all `filters`, whatever the query says. */
export async function listFiltered<View>(
  db: Db,
  resource: Resource,
  { workspace_id, listing, read: exported }: ListRequest,
  read: ReadByIds<View>,
  filters: Filter[],
): Promise<Listed<View>> {
  const { table } = resource
  const { ids, total, next } = await findRecords(db, { table, workspace_id, filters, ...listing })
  const reader = (exported as ReadByIds<View> | undefined) ?? read
  return { records: await reader(db, workspace_id, ids), total, next }
}

/** The page of a list that no record can be in. */
export const emptyPage = ({ page }: ListRequest['listing']) => ({
  records: [],
  total: 'offset' in page ? 0 : null,
  next: null,
})

type Parameters = Record<string, string | number | undefined>

/** The filters of a query that every resource understands; null when no record can meet them. */
export async function filtersOf(
  db: Db,
  resource: Resource,
  workspace_id: number,
  query: object,
): Promise<Filter[] | null> {
  const { table, counted, references } = resource
  const parameters = query as Parameters
  const filters = [...dateFilters(query), ...valueFilters(db, table as Valued, workspace_id, query)]
  if (searchesNames(resource)) filters.push(...nameFilter(parameters.search as string))
  for (const field of counted) {
    const sent = parameters[field]
    const value = typeof sent === 'string' ? sent.trim() || undefined : sent
    if (value === undefined) continue
    const target = references[field]
    // A reference to a record in the trash reads null, so no record shows its id.
    if (target && !(await isLive(db, target, workspace_id, Number(value)))) return null
    filters.push(equals(field, value, await countOf(db, workspace_id, `${table}.${field}=${value}`)))
  }
  return filters
}
