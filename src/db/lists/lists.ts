import { type RawBuilder, type SelectQueryBuilder, type SqlBool, sql } from 'kysely'
import type { Db } from '../db.ts'
import type { Deletable } from '../records.ts'
import { countOf, countRows } from './counts.ts'
import type { Filter } from './filters.ts'
import { newest_first, type Sorting, type SortKey } from './orders.ts'
import { newestIds } from './pages.ts'

export type Page = { per_page: number } & ({ offset: number } | { after: readonly unknown[] | null })

/** The ids of one page in order; the total (null with a cursor); the cursor of the next page. */
export type IdPage = { ids: number[]; total: number | null; next: unknown[] | null }

/** The same, with the records of the page as they are read. */
export type Found<Records> = Pick<IdPage, 'total' | 'next'> & { records: Records }
export type Listed<View> = Found<View[]>

type PageRequest = { table: Deletable; workspace_id: number; filters: Filter[]; sorting: Sorting; page: Page }

// A filter with at most this many records is read by its index and sorted. More records are not counted first.
const few = 2000

/**
 * One page of a table's live records that match all filters. A page number costs the skipped records and an exact count;
 * a cursor (`after`) costs the same at any depth. For a rare filter, its records are read and sorted. Otherwise the scan
 * follows the order's index and skips records that do not match.
 */
export async function findRecords(db: Db, request: PageRequest): Promise<IdPage> {
  const { table, workspace_id, sorting, page } = request
  const [only, ...others] = request.filters
  if (sorting.name === newest_first.name && !others.length && (!only || only.match))
    return findNewest(db, request, only)
  const all = await countOf(db, workspace_id, table)
  const filters = await Promise.all(request.filters.map((filter) => measured(db, request, filter)))
  const lead = leadOf(filters, sorting, all)
  const total = 'offset' in page ? await totalOf(db, request, filters, all) : null
  const none = { ids: [], total, next: null }
  if (filters.some(({ total }) => total === 0)) return { ...none, total: total && 0 }
  if ('offset' in page) {
    if (page.offset >= (total ?? 0)) return none
    const rows = await read(db, request, filters, lead, everything, page.per_page, page.offset)
    return { ids: rows.map(({ id }) => id), total, next: null }
  }

  const rows: Row[] = []
  const wanted = page.per_page + 1
  for (const range of page.after ? rangesAfter(sorting, page.after) : [everything]) {
    rows.push(...(await read(db, request, filters, lead, range, wanted - rows.length, 0)))
    if (rows.length === wanted) break
  }
  const { shown, last } = cutPage(rows, page.per_page)
  return { ids: shown.map(({ id }) => id), total, next: last ? placeOf(sorting, last) : null }
}

/** The same for the most frequent lists: newest first, of all records or of those with one value. */
async function findNewest(
  db: Db,
  { table, workspace_id, page }: PageRequest,
  filter?: Filter,
): Promise<IdPage> {
  const { records, total, next } = await readPage(
    page,
    async () => filter?.total ?? countOf(db, workspace_id, table),
    (window) => newestIds(db, table, workspace_id, window, filter?.match),
    (id) => [id],
  )
  return { ids: records, total, next }
}

/** Cuts rows, read with one more than a page has, to the page. `last` is its last row if there is a next page. */
export function cutPage<R>(rows: readonly R[], per_page: number): { shown: R[]; last: R | undefined } {
  const shown = rows.slice(0, per_page)
  return { shown, last: rows.length > per_page ? shown.at(-1) : undefined }
}

/** The rows of a page: up to `limit`, after `offset` rows, and after the row of a cursor if there is one. */
export type Window = { limit: number; offset: number; after: readonly unknown[] | null }

/** One page of rows. Rows are counted for a page number only. `cursorOf` is the cursor after a row. */
export async function readPage<R>(
  page: Page,
  count: () => Promise<number>,
  read: (window: Window) => Promise<R[]>,
  cursorOf: (row: R) => unknown[],
): Promise<Listed<R>> {
  const { per_page } = page
  if ('offset' in page) {
    const { offset } = page
    const total = await count()
    const records = offset < total ? await read({ limit: per_page, offset, after: null }) : []
    return { records, total, next: null }
  }
  const found = await read({ limit: per_page + 1, offset: 0, after: page.after })
  const { shown, last } = cutPage(found, per_page)
  return { records: shown, total: null, next: last ? cursorOf(last) : null }
}

/** One page of the rows of a query, newest first by a column that is unique and grows with time. */
export function newestRows<DB, TB extends keyof DB, R extends object>(
  rows: SelectQueryBuilder<DB, TB, R>,
  column: keyof R & string,
  page: Page,
): Promise<Listed<R>> {
  const by = sql.ref(column)
  const read = ({ limit, offset, after }: Window): Promise<R[]> =>
    rows
      .$if(after !== null, (query) => query.where(sql<SqlBool>`${by} < ${after?.[0]}`))
      .orderBy(by, 'desc')
      .limit(limit)
      .offset(offset)
      .execute() as Promise<R[]>
  return readPage(
    page,
    () => countRows(rows.clearSelect()),
    read,
    (row) => [row[column]],
  )
}

/** The exact number of live records that meet all filters. */
export async function countMatching(db: Db, request: Omit<PageRequest, 'sorting' | 'page'>): Promise<number> {
  const { table, workspace_id } = request
  const asked = { ...request, sorting: newest_first, page: { per_page: 1, offset: 0 } }
  const all = await countOf(db, workspace_id, table)
  const filters = await Promise.all(request.filters.map((filter) => measured(db, asked, filter)))
  return totalOf(db, asked, filters, all)
}

type Row = { id: number } & Record<string, unknown>
type Measured = Filter & { total: number; more: boolean }

// A filter without a kept total is counted by its index, up to the limit.
async function measured(
  db: Db,
  { table, workspace_id }: Pick<PageRequest, 'table' | 'workspace_id'>,
  filter: Filter,
): Promise<Measured> {
  if (filter.total !== undefined) return { ...filter, total: filter.total, more: false }
  const limit = sql`LIMIT ${few + 1}`
  if (filter.probe && (await countOfRows(db, sql`${filter.probe} ${limit}`)) > few)
    return { ...filter, total: few + 1, more: true }
  const total = await countOfRows(
    db,
    sql`SELECT 1 FROM ${sql.table(table)} WHERE ${live(workspace_id)} AND ${filter.where} ${limit}`,
  )
  return { ...filter, total, more: total > few }
}

async function countOfRows(db: Db, query: RawBuilder<unknown>): Promise<number> {
  const { rows } = await sql<{ n: number }>`SELECT count(*) AS n FROM (${query}) AS counted`.execute(db)
  return Number(rows[0]?.n)
}

/** The filter whose index leads, if one does. */
function leadOf(filters: Measured[], sorting: Sorting, all: number): Measured | undefined {
  const rarest = filters.filter(({ more }) => !more).sort((a, b) => a.total - b.total)
  // Its index has the order already.
  const ordered = sorting.keys.length ? undefined : rarest.find(({ match }) => match)
  if (ordered) return ordered
  const [first] = rarest
  if (!first) return undefined
  // The expected share of records that meet all filters. It assumes that the filters are independent.
  const share = filters.reduce((part, { total }) => part * (total / Math.max(1, all)), 1)
  return first.total <= few || first.total < 100 / share ? first : undefined
}

const live = (workspace_id: number) => sql<SqlBool>`workspace_id = ${workspace_id} AND deleted_at IS NULL`
const both = (conditions: RawBuilder<SqlBool>[]) => sql<SqlBool>`${sql.join(conditions, sql` AND `)}`

async function totalOf(db: Db, { table, workspace_id }: PageRequest, filters: Measured[], all: number) {
  const [only, ...others] = filters
  if (!only) return all
  if (!others.length && !only.more) return only.total
  if (!others.length && only.count) return Number((await only.count.execute(db)).rows[0]?.n)
  const where = allOf(workspace_id, filters)
  const { rows } = await sql<{
    n: number
  }>`SELECT count(*) AS n FROM ${sql.table(table)} WHERE ${where}`.execute(db)
  return Number(rows[0]?.n)
}

/** The live records that meet all filters. Only the rarest filter may use its index. */
function allOf(workspace_id: number, filters: Measured[]) {
  const [first, ...others] = [...filters].sort((a, b) => a.total - b.total)
  return both([live(workspace_id), ...(first ? [first.where] : []), ...others.map(({ plain }) => plain)])
}

/** The condition of the live records that meet all filters. Only the rarest filter may use its index. */
export async function conditionOf(db: Db, request: Omit<PageRequest, 'sorting' | 'page'>) {
  const filters = await Promise.all(request.filters.map((filter) => measured(db, request, filter)))
  return allOf(request.workspace_id, filters)
}

async function read(
  db: Db,
  { table, workspace_id, sorting }: PageRequest,
  filters: Measured[],
  lead: Measured | undefined,
  range: Range,
  limit: number,
  offset: number,
): Promise<Row[]> {
  const { keys, descending } = sorting
  // The order's index also serves a filter of its first field.
  const [key] = keys
  const formOf = (filter: Measured) =>
    filter === lead || (!lead && key && filter.field === key.field) ? filter.where : filter.plain
  const where = both([live(workspace_id), ...filters.map(formOf), range.where])
  const columns = sql.join([sql.ref('id'), ...keys.map(({ by }, n) => sql`${by} AS ${sql.ref(`key_${n}`)}`)])
  const found = sql`SELECT ${columns} FROM ${sql.table(table)} WHERE ${where}`
  const down = (part: RawBuilder<unknown>, backwards = false) => (backwards ? sql`${part} DESC` : part)
  const order = (nameOf: (key: SortKey, n: number) => RawBuilder<unknown>) =>
    sql.join([
      ...keys.map((key, n) => down(nameOf(key, n), key.descending)).slice(range.same),
      down(sql.ref('id'), descending),
    ])
  const page = sql`LIMIT ${limit} OFFSET ${offset}`
  const { rows } = await (lead && !(lead.match && !keys.length)
    ? sql<Row>`WITH found AS MATERIALIZED (${found}) SELECT * FROM found ORDER BY ${order((_, n) => sql.ref(`key_${n}`))} ${page}`
    : sql<Row>`${found} ORDER BY ${order(({ by }) => by)} ${page}`
  ).execute(db)
  return rows
}

/** The cursor position of a row: its keys and its id. */
const placeOf = ({ keys }: Sorting, row: Row): unknown[] => [...keys.map((_, n) => row[`key_${n}`]), row.id]

/** A range of an order: records that equal a position in the first `same` keys and come after it in the next key. */
type Range = { where: RawBuilder<SqlBool>; same: number }
const everything: Range = { where: sql`true`, same: 0 }

/** The records after a position, as consecutive ranges of the order's index. A range reads no records that it skips. */
function rangesAfter({ keys, descending }: Sorting, place: readonly unknown[]): Range[] {
  const parts = [...keys, { by: sql.ref('id'), descending }]
  return parts
    .map((part, n) => {
      const same = parts.slice(0, n).map(({ by }, m) => sql<SqlBool>`${by} = ${place[m]}`)
      const beyond = part.descending
        ? sql<SqlBool>`${part.by} < ${place[n]}`
        : sql<SqlBool>`${part.by} > ${place[n]}`
      return { where: both([...same, beyond]), same: n }
    })
    .reverse()
}
