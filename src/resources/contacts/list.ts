import { type SqlBool, sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { countOf } from '../../db/lists/counts.ts'
import type { Filter } from '../../db/lists/filters.ts'
import type { Listed } from '../../db/lists/lists.ts'
import { newest_first } from '../../db/lists/orders.ts'
import { perNumber } from '../../db/lists/pages.ts'
import { searchContacts, searchFilter, searchWords } from '../../db/lists/search.ts'
import { prepare } from '../../db/statements/prepare.ts'
import { emptyPage, filtersOf, type ListRequest, listFiltered, listRecords } from '../list.ts'
import type { FilterValues } from '../list-query.ts'
import { listedFields, type Row, selectionOf } from '../selection.ts'
import { contactRecords } from './operations.ts'
import { contacts } from './resource.ts'
import { columns, type contact_filters, type ListedContact } from './schema.ts'

// The first page is what clients read most, so it is one query. The limit is part of the text: PostgreSQL keeps no plan
// for a limit that is a parameter, and planning costs as much as the page.
const { query, read } = selectionOf<ListedContact>(contacts, listedFields(columns))
const firstPage = perNumber((limit) =>
  prepare<{ workspace_id: number }, Row>((db, p) =>
    query(
      db,
      sql<SqlBool>`contacts.workspace_id = ${p.workspace_id} AND contacts.deleted_at IS NULL`,
      sql`ORDER BY contacts.id DESC LIMIT ${sql.lit(limit)}`,
    ),
  ),
)

/** The filter by the words of a search, which looks at names and e-mail addresses. */
export async function searchFilters(
  db: Db,
  { workspace_id, query }: Pick<ListRequest<FilterValues<typeof contact_filters>>, 'workspace_id' | 'query'>,
): Promise<Filter[]> {
  const words = searchWords(query.search ?? '')
  return words.length ? [await searchFilter(db, workspace_id, words)] : []
}

/** One page of the live contacts that meet the query; a search looks at names and e-mail addresses. */
export async function listContacts(
  db: Db,
  request: ListRequest<FilterValues<typeof contact_filters>>,
): Promise<Listed<ListedContact>> {
  const { workspace_id, query, listing } = request
  const { page, sorting } = listing
  const words = searchWords(query.search ?? '')
  const is_newest = 'offset' in page && sorting.name === newest_first.name
  if (!is_newest) {
    return listRecords(db, contacts, request, contactRecords.byIds, await searchFilters(db, request))
  }
  const filters = await filtersOf(db, contacts, request)
  if (!filters) return emptyPage(listing)
  if (words.length) {
    const { ids, total } = await searchContacts(db, {
      workspace_id,
      words,
      conditions: leading(filters),
      limit: page.per_page,
      offset: page.offset,
    })
    return { records: await contactRecords.byIds(db, workspace_id, ids), total, next: null }
  }
  if (page.offset === 0 && !filters.length) {
    const total = await countOf(db, workspace_id, 'contacts')
    const rows = await firstPage(page.per_page)(db, { workspace_id })
    return { records: rows.map((row) => read(row)), total, next: null }
  }
  return listFiltered(db, contacts, request, contactRecords.byIds, filters)
}

// The rarest filter leads a search by its index.
const leading = (filters: readonly Filter[]) =>
  filters
    .toSorted((a, b) => (a.total ?? Number.POSITIVE_INFINITY) - (b.total ?? Number.POSITIVE_INFINITY))
    .map(({ where, plain }, index) => (index === 0 ? where : plain))
