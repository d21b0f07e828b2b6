import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely'
import { countOf } from '../db/counts.ts'
import type { Db } from '../db/db.ts'
import { prepare } from '../db/prepare.ts'
import { isLive } from '../db/references.ts'
import { searchContacts, searchWords } from '../db/search.ts'
import { counted, withCompany } from './queries.ts'
import type { ListedContact } from './schema.ts'

type Slice = { workspace_id: number; limit: number; offset: number }
type Literal = { workspace_id: number; limit: RawBuilder<number>; offset: RawBuilder<number> }
type Order = 'asc' | 'desc'

const near = (db: Db, p: Slice | Literal, where: Expression<SqlBool>[], order: Order) =>
  withCompany(db)
    .where('contacts.workspace_id', '=', p.workspace_id)
    .where('contacts.deleted_at', 'is', null)
    .where((eb) => eb.and(where))
    .orderBy('contacts.id', order)
    .limit(p.limit)
    .offset(p.offset)

// The ids come from an index alone, so that deep pages do not read the records they skip.
const deep = (db: Db, p: Slice, where: Expression<SqlBool>[], order: Order) =>
  withCompany(db)
    .where('contacts.workspace_id', '=', p.workspace_id)
    .where('contacts.id', 'in', (ids) =>
      ids
        .selectFrom('contacts')
        .select('contacts.id')
        .where('contacts.workspace_id', '=', p.workspace_id)
        .where('contacts.deleted_at', 'is', null)
        .where((eb) => eb.and(where))
        .orderBy('contacts.id', order)
        .limit(p.limit)
        .offset(p.offset),
    )
    .orderBy('contacts.id', order)

// One text for each number of ids, or of records on a first page.
type Ids = { workspace_id: number } & Record<number, number>
const byIds = (count: number) =>
  prepare((db, p: Ids) =>
    withCompany(db)
      .where('contacts.workspace_id', '=', p.workspace_id)
      .where(
        'contacts.id',
        'in',
        Array.from({ length: count }, (_, index) => p[index] as number),
      )
      .orderBy('contacts.id', 'desc'),
  )
const perNumber = <Query>(make: (count: number) => Query) => {
  const known = new Map<number, Query>()
  return (count: number): Query => {
    const query = known.get(count) ?? make(count)
    known.set(count, query)
    return query
  }
}
const withIds = perNumber(byIds)

// Below this, skipping records costs less than a second look at each that is wanted.
const deep_from = 500

// The limit is part of the text: PostgreSQL keeps no plan for one that it does not know, and planning costs as much as
// the page.
const firstPage = perNumber((limit) =>
  prepare((db, { workspace_id }: { workspace_id: number }) =>
    near(db, { workspace_id, limit: sql.lit(limit), offset: sql.lit(0) }, [], 'desc'),
  ),
)

const nextPages = prepare((db, p: Slice) => near(db, p, [], 'desc'))

type Row = Awaited<ReturnType<typeof nextPages>>[number]
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
  { per_page, offset }: Page,
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

  const words = searchWords(search)
  if (words.length) {
    const { ids, total } = await searchContacts(db, {
      workspace_id,
      words,
      conditions: where,
      limit: per_page,
      offset,
    })
    if (!ids.length) return { contacts: [], total }
    const rows = await withIds(ids.length)(db, { workspace_id, ...ids })
    return { contacts: rows.map(listed), total }
  }

  const total =
    filters.length > 1
      ? await countBy(db, workspace_id, where)
      : (filters[0]?.total ?? (await countOf(db, workspace_id, 'contacts')))
  if (offset >= total) return { contacts: [], total }
  const { order, ...slice } = nearer(total, per_page, offset)
  const rows = await rowsOf(db, { workspace_id, ...slice }, where, order)
  const contacts = rows.map(listed)
  return { contacts: order === 'desc' ? contacts : contacts.reverse(), total }
}

function rowsOf(db: Db, slice: Slice, where: Expression<SqlBool>[], order: Order): Promise<Row[]> {
  if (slice.offset >= deep_from) return deep(db, slice, where, order).execute()
  if (where.length || order === 'asc') return near(db, slice, where, order).execute()
  return slice.offset === 0 ? firstPage(slice.limit)(db, slice) : nextPages(db, slice)
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

// Beyond the middle, fewer records are skipped when they are counted from the oldest.
function nearer(total: number, limit: number, offset: number) {
  const rest = total - offset
  if (offset < rest) return { order: 'desc' as const, limit, offset }
  const length = Math.min(limit, rest)
  return { order: 'asc' as const, limit: length, offset: rest - length }
}

async function countBy(db: Db, workspace_id: number, where: RawBuilder<SqlBool>[]): Promise<number> {
  const { n } = await db
    .selectFrom('contacts')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('workspace_id', '=', workspace_id)
    .where('deleted_at', 'is', null)
    .where((eb) => eb.and(where))
    .executeTakeFirstOrThrow()
  return Number(n)
}
