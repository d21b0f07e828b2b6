import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { countOf } from '../../db/lists/counts.ts'
import { equals, type Filter } from '../../db/lists/filters.ts'
import { type Found, findRecords, type Page } from '../../db/lists/lists.ts'
import { dated, newest_first, type Order, type Sorting } from '../../db/lists/orders.ts'
import { byIds, perNumber } from '../../db/lists/pages.ts'
import { searchContacts, searchFilter, searchWords } from '../../db/lists/search.ts'
import { isLive } from '../../db/references.ts'
import { prepare } from '../../db/statements/prepare.ts'
import { counted, withCompany } from './queries.ts'
import type { ListedContact } from './schema.ts'

/** What contacts can be sorted by; those with one last name by their first. */
export const orders: readonly Order[] = [...dated, [{ field: 'last_name', by: sql.ref('sort_name') }]]

const withIds = byIds('contacts', (db, those) => withCompany(db).where(those))

// What is asked for most, in one query. The limit is part of the text: PostgreSQL keeps no plan for one that it does not
// know, and planning costs as much as the page.
const firstPage = perNumber((limit) =>
  prepare((db, p: { workspace_id: number }) =>
    withCompany(db)
      .where('contacts.workspace_id', '=', p.workspace_id)
      .where('contacts.deleted_at', 'is', null)
      .orderBy('contacts.id', 'desc')
      .limit(sql.lit(limit)),
  ),
)

type Row = Awaited<ReturnType<ReturnType<typeof firstPage>>>[number]
// Key by key: copying a row costs more than reading it.
const listed = (row: Row): ListedContact => ({
  id: row.id,
  first_name: row.first_name,
  last_name: row.last_name,
  email: row.email,
  phone: row.phone,
  company_id: row.company_id,
  company: companyOf(row.company_id, row.company_name),
  stage: row.stage,
  created_at: row.created_at,
})

const companyOf = (id: number | null, name: string | null) =>
  id === null || name === null ? null : { id, name }

type Asked = {
  search?: string | undefined
  company_id?: number | undefined
  stage?: string | undefined
  /** What every list of records can be filtered by. */
  filters?: Filter[]
}
type Listed = Pick<Found, 'total' | 'next'> & { contacts: ListedContact[] }

/** One page of the live contacts that meet all filters; `total` and `next` as in findRecords. */
export async function listContacts(
  db: Db,
  workspace_id: number,
  { search = '', company_id, stage, filters: common = [] }: Asked,
  page: Page,
  sorting: Sorting = newest_first,
): Promise<Listed> {
  if (company_id !== undefined && !(await isLive(db, 'companies', workspace_id, company_id)))
    return { contacts: [], total: 'offset' in page ? 0 : null, next: null }
  const values = { company_id, stage: stage?.trim() || undefined }
  const filters = [...common]
  for (const column of counted) {
    const value = values[column]
    if (value === undefined) continue
    filters.push(equals(column, value, await countOf(db, workspace_id, `contacts.${column}=${value}`)))
  }
  const contactsOf = async (ids: number[]) => (await withIds(db, workspace_id, ids)).map(listed)

  const words = searchWords(search)
  const newest = 'offset' in page && sorting.name === newest_first.name
  if (words.length && newest) {
    const conditions = leading(filters)
    const { ids, total } = await searchContacts(db, {
      ...{ workspace_id, words, conditions, limit: page.per_page, offset: page.offset },
    })
    return { contacts: await contactsOf(ids), total, next: null }
  }
  if (words.length) filters.push(await searchFilter(db, words))
  if (newest && page.offset === 0 && !filters.length) {
    const total = await countOf(db, workspace_id, 'contacts')
    const rows = await firstPage(page.per_page)(db, { workspace_id })
    return { contacts: rows.map(listed), total, next: null }
  }
  const { ids, total, next } = await findRecords(db, {
    table: 'contacts',
    workspace_id,
    filters,
    sorting,
    page,
  })
  return { contacts: await contactsOf(ids), total, next }
}

// The rarest filter leads a search by its index.
const leading = (filters: Filter[]) =>
  filters
    .toSorted((a, b) => (a.total ?? Infinity) - (b.total ?? Infinity))
    .map(({ where, plain }, index) => (index === 0 ? where : plain))
