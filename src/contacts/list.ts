import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { countOf } from '../db/counts.ts'
import type { Db } from '../db/db.ts'
import { filteredPageIds, pageIds, perNumber } from '../db/pages.ts'
import { prepare } from '../db/prepare.ts'
import { isLive } from '../db/references.ts'
import { searchContacts, searchWords } from '../db/search.ts'
import { counted, withCompany } from './queries.ts'
import type { ListedContact } from './schema.ts'

// One text for each number of ids.
type Ids = { workspace_id: number } & Record<number, number>
const withIds = perNumber((count) =>
  prepare((db, p: Ids) =>
    withCompany(db)
      .where('contacts.workspace_id', '=', p.workspace_id)
      .where(
        'contacts.id',
        'in',
        Array.from({ length: count }, (_, index) => p[index] as number),
      )
      .orderBy('contacts.id', 'desc'),
  ),
)

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

type Filters = { search?: string; company_id?: number; stage?: string }
type Page = { per_page: number; offset: number }

/** One page of the live contacts that meet all filters, newest first, and the number of all. */
export async function listContacts(
  db: Db,
  workspace_id: number,
  { search = '', company_id, stage }: Filters,
  page: Page,
): Promise<{ contacts: ListedContact[]; total: number }> {
  const none = { contacts: [], total: 0 }
  if (company_id !== undefined && !(await isLive(db, 'companies', workspace_id, company_id))) return none
  const values = { company_id, stage: stage?.trim() || undefined }
  const filters = []
  for (const column of counted) {
    if (values[column] === undefined) continue
    const total = await countOf(db, workspace_id, `contacts.${column}=${values[column]}`)
    filters.push({ column, value: values[column], total })
  }
  if (filters.some((filter) => filter.total === 0)) return none
  const where = conditions(filters)
  const contactsOf = async (ids: number[]) =>
    ids.length ? (await withIds(ids.length)(db, { workspace_id, ...ids })).map(listed) : []

  const words = searchWords(search)
  if (words.length) {
    const { per_page: limit, offset } = page
    const { ids, total } = await searchContacts(db, { workspace_id, words, conditions: where, limit, offset })
    return { contacts: await contactsOf(ids), total }
  }

  const total =
    filters.length > 1
      ? await countBy(db, workspace_id, where)
      : (filters[0]?.total ?? (await countOf(db, workspace_id, 'contacts')))
  if (page.offset >= total) return { contacts: [], total }
  if (filters.length) {
    const ids = await filteredPageIds(db, 'contacts', workspace_id, where, page)
    return { contacts: await contactsOf(ids), total }
  }
  if (page.offset > 0) {
    const ids = await pageIds(db, 'contacts', workspace_id, page)
    return { contacts: await contactsOf(ids), total }
  }
  const rows = await firstPage(page.per_page)(db, { workspace_id })
  return { contacts: rows.map(listed), total }
}

// The rarest filter leads the search by its index; the others are written so that no index offers itself for them,
// because a planner without statistics takes any.
function conditions(filters: { column: (typeof counted)[number]; value: unknown; total: number }[]) {
  return filters
    .sort((a, b) => a.total - b.total)
    .map(({ column, value }, index) => {
      const field = sql.ref(`contacts.${column}`)
      return index === 0
        ? sql<SqlBool>`${field} = ${value}`
        : sql<SqlBool>`coalesce(${field}, null) = ${value}`
    })
}

async function countBy(db: Db, workspace_id: number, where: RawBuilder<SqlBool>[]): Promise<number> {
  const { n } = await db
    .selectFrom('contacts')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('workspace_id', '=', workspace_id)
    .where('deleted_at', 'is', null)
    .where((eb) => eb.and(where))
    .executeTakeFirstOrThrow()
  return n
}
