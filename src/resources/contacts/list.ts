import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { storedCount } from '../../db/lists/counts.ts'
import type { Filter } from '../../db/lists/filters.ts'
import type { Found } from '../../db/lists/lists.ts'
import { newest_first } from '../../db/lists/orders.ts'
import { searchContacts, searchFilter, searchWords } from '../../db/lists/search.ts'
import { numberIn } from '../../db/lists/search-numbers.ts'
import { joinTexts, no_texts, type Texts } from '../../db/statements/json-text.ts'
import { perKey, prepare } from '../../db/statements/prepare.ts'
import { filtersOf, type ListRequest, listFiltered, listRecords } from '../lists/list.ts'
import type { FilterValues } from '../lists/list-query.ts'
import { listedFields, selectionOf } from '../writing/selection.ts'
import { contactRecords } from './operations.ts'
import { contacts } from './resource.ts'
import { columns, type contact_filters } from './schema.ts'

// The first page is what clients read most, so it is one query: of all contacts with their total, or of those with one value.
// The limit is part of the text: PostgreSQL keeps no plan for a limit that is a parameter, and planning costs as much as the page.
const view = selectionOf(contacts, listedFields(columns))
const firstPage = perKey((key: string) => {
  const [limit, column] = key.split(' ')
  return prepare<{ workspace_id: number; value: string | number }, Texts & { total: number | null }>(
    (p, db) => {
      const matching = column ? sql`AND ${sql.ref(`contacts.${column}`)} = ${p.value}` : sql``
      const rows = view.select(db, {
        where: sql`contacts.workspace_id = ${p.workspace_id} AND contacts.deleted_at IS NULL ${matching}`,
        order: sql`ORDER BY contacts.id DESC LIMIT ${sql.lit(Number(limit))}`,
      })
      const total = column ? sql`NULL` : storedCount(p.workspace_id, 'contacts')
      return sql`SELECT page.*, ${total} AS total FROM (${joinTexts(rows, ',')}) AS page`
    },
  )
})

/** The filter by the words of a search, which looks at names, e-mail addresses and telephone numbers. */
export async function searchFilters(
  db: Db,
  { workspace_id, query }: Pick<ListRequest<FilterValues<typeof contact_filters>>, 'workspace_id' | 'query'>,
): Promise<Filter[]> {
  const words = searchWords(query.search ?? '')
  return words.length ? [await searchFilter(db, workspace_id, words, numberIn(query.search ?? ''))] : []
}

/** One page of the live contacts that meet the query; a search looks at names, e-mail addresses and telephone numbers. */
export async function listContacts(
  db: Db,
  request: ListRequest<FilterValues<typeof contact_filters>>,
): Promise<Found<Texts>> {
  const { workspace_id, query, listing } = request
  const { page, sorting } = listing
  const words = searchWords(query.search ?? '')
  const is_newest = 'offset' in page && sorting.name === newest_first.name
  if (!is_newest) {
    return listRecords(db, contacts, request, contactRecords.listed, await searchFilters(db, request))
  }
  const filters = await filtersOf(db, contacts, request)
  if (!filters) return listFiltered(db, contacts, request, contactRecords.listed, null)
  if (words.length) {
    const { ids, total } = await searchContacts(db, {
      workspace_id,
      words,
      number: numberIn(query.search ?? ''),
      conditions: leading(filters),
      limit: page.per_page,
      offset: page.offset,
    })
    return { records: await contactRecords.listed(db, workspace_id, ids), total, next: null }
  }
  const [only, ...others] = filters
  if (page.offset === 0 && !others.length && (!only || only.match)) {
    const key = [page.per_page, only?.match?.column].join(' ')
    const [found] = await firstPage(key)(db, { workspace_id, value: only?.match?.value ?? '' })
    return { records: found ?? no_texts, total: only?.total ?? found?.total ?? 0, next: null }
  }
  return listFiltered(db, contacts, request, contactRecords.listed, filters)
}

// The rarest filter leads a search by its index.
const leading = (filters: readonly Filter[]) =>
  filters
    .toSorted((a, b) => (a.total ?? Number.POSITIVE_INFINITY) - (b.total ?? Number.POSITIVE_INFINITY))
    .map(({ where, plain }, index) => (index === 0 ? where : plain))
