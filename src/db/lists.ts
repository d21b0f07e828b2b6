import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { countOf } from './counts.ts'
import type { Db } from './db.ts'
import { indexedValue, indexedWhole, type Valued } from './field-values.ts'
import { pageIds } from './pages.ts'
import type { Deletable } from './records.ts'

/** A part of an order: the field that a client names, and the expression that the order's index has for it, never null. */
export type SortKey = {
  field: string
  by: RawBuilder<unknown>
  /** Its values are numbers, not texts. */
  numeric?: boolean
  descending?: boolean
}

/** An order that an index holds, ended by the id. Backwards it is one too. */
export type Order = readonly SortKey[]

/** An order as it is read: its name in a cursor, its parts with their directions, and the id's. */
export type Sorting = { name: string; keys: Order; descending: boolean }

/** Newest first, by id: how lists are sorted when nothing else is asked for. */
export const newest_first: Sorting = { name: '-id', keys: [], descending: true }

/** The orders that every list of records has. */
export const dated: readonly Order[] = ['created_at', 'updated_at'].map((field) => [
  { field, by: sql.ref(field) },
])

const signed = ({ field, descending }: SortKey) => (descending ? `-${field}` : field)
const turned = (order: Order): Order => order.map((key) => ({ ...key, descending: !key.descending }))
const sortings = (orders: readonly Order[]): Sorting[] =>
  [[], ...orders].flatMap((order) =>
    [order, turned(order)].map((keys, backwards) => ({
      name: keys.length ? keys.map(signed).join() : backwards ? '-id' : 'id',
      keys,
      descending: backwards === 1,
    })),
  )

/** Every text that `sort` takes: the orders, backwards too, and each of their beginnings. */
export const sortNames = (orders: readonly Order[]): string[] => [
  ...new Set(
    sortings(orders).flatMap(({ name }) => {
      const parts = name.split(',')
      return parts.map((_, index) => parts.slice(0, index + 1).join())
    }),
  ),
]

/** The order of a `sort` text such as `-value,name`; null when no index has it. */
export const findSorting = (orders: readonly Order[], text: string): Sorting | null =>
  sortings(orders).find(({ name }) => name === text || name.startsWith(`${text},`)) ?? null

/** A condition of a list. */
export type Filter = {
  /** The field, where an order may begin with the same one. */
  field?: string
  /** In the form that an index answers. */
  where: RawBuilder<SqlBool>
  /** The same in a form that no index offers itself for: a planner without statistics takes any. */
  plain: RawBuilder<SqlBool>
  /** The index that answers it goes on with the id. */
  by_id?: boolean
  /** How many records meet it, where that is kept. */
  total?: number
}

/** Records whose column has this value; `total` as it is kept. */
export const equals = (column: string, value: string | number, total?: number): Filter => ({
  field: column,
  where: sql`${sql.ref(column)} = ${value}`,
  plain: sql`coalesce(${sql.ref(column)}, null) = ${value}`,
  by_id: true,
  ...(total !== undefined && { total }),
})

/** Records whose value lies in a range, both ends included; none when neither is given. */
export function within(
  field: string,
  from: unknown,
  to: unknown,
  by: RawBuilder<unknown> = sql.ref(field),
): Filter[] {
  const ends = (value: RawBuilder<unknown>) => [
    ...(from === undefined ? [] : [sql<SqlBool>`${value} >= ${from}`]),
    ...(to === undefined ? [] : [sql<SqlBool>`${value} <= ${to}`]),
  ]
  if (!ends(by).length) return []
  const all = (value: RawBuilder<unknown>) => sql<SqlBool>`${sql.join(ends(value), sql` AND `)}`
  return [{ field, where: all(by), plain: all(sql`coalesce(${by}, null)`) }]
}

/** Records with a tag or a custom field's value (db/field-values.ts); `values` are the forms that it may be kept in. */
export function hasValue(kind: Valued, workspace_id: number, field: string, values: string[]): Filter {
  const matching = sql`SELECT record_id FROM field_values WHERE workspace_id = ${workspace_id} AND kind = ${kind}
    AND field = ${field} AND value IN (${sql.join(values.map(indexedValue))})`
  // What is too long for the index is decided by the record's own text, which JSON.stringify wrote.
  const [value = ''] = values
  const written = `${JSON.stringify(field.slice('custom_fields.'.length))}:${JSON.stringify(value)}`
  const whole = indexedWhole(value)
    ? sql``
    : sql` AND replace(custom_fields, ${written}, '') <> custom_fields`
  return {
    where: sql`${sql.ref(kind)}.id IN (${matching})${whole}`,
    plain: sql`EXISTS (${matching} AND record_id = ${sql.ref(kind)}.id)${whole}`,
  }
}

export type Page = { per_page: number } & ({ offset: number } | { after: readonly unknown[] | null })

/** The ids of one page in their order; how many records meet all filters (null by cursor); the place to go on from. */
export type Found = { ids: number[]; total: number | null; next: unknown[] | null }

type Asked = { table: Deletable; workspace_id: number; filters: Filter[]; sorting: Sorting; page: Page }

// Up to so many, records are found by a filter's index and sorted; what more there are is not counted first.
const few = 2000

/**
 * One page of a table's live records that meet all filters. A page number costs what is skipped, and an exact count; a
 * place (`after`) costs the same at any depth. The way is chosen by numbers: the records of a rare filter are read and
 * sorted; else the order's index is followed, past what does not meet the filters.
 */
export async function findRecords(db: Db, asked: Asked): Promise<Found> {
  const { table, workspace_id, sorting, page } = asked
  const all = await countOf(db, workspace_id, table)
  const filters = await Promise.all(asked.filters.map((filter) => measured(db, asked, filter)))
  const lead = leadOf(filters, sorting, all)
  const total = 'offset' in page ? await totalOf(db, asked, filters, all) : null
  const none = { ids: [], total, next: null }
  if (filters.some(({ total }) => total === 0)) return { ...none, total: total && 0 }
  if ('offset' in page) {
    if (page.offset >= (total ?? 0)) return none
    if (!filters.length && sorting.name === newest_first.name)
      return { ids: await pageIds(db, table, workspace_id, page), total, next: null }
    const rows = await read(db, asked, filters, lead, everything, page.per_page, page.offset)
    return { ids: rows.map(({ id }) => id), total, next: null }
  }

  const rows: Row[] = []
  const wanted = page.per_page + 1
  for (const range of page.after ? rangesAfter(sorting, page.after) : [everything]) {
    rows.push(...(await read(db, asked, filters, lead, range, wanted - rows.length, 0)))
    if (rows.length === wanted) break
  }
  const { shown, last } = cutPage(rows, page.per_page)
  return { ids: shown.map(({ id }) => id), total, next: last ? placeOf(sorting, last) : null }
}

/** Of one row more than a page has: the page, and its last row when there are more. */
export function cutPage<R>(rows: readonly R[], per_page: number): { shown: R[]; last: R | undefined } {
  const shown = rows.slice(0, per_page)
  return { shown, last: rows.length > per_page ? shown.at(-1) : undefined }
}

type Row = { id: number } & Record<string, unknown>
type Measured = Filter & { total: number; more: boolean }

// A filter whose total is not kept is counted by its index, as far as it matters.
async function measured(db: Db, { table, workspace_id }: Asked, filter: Filter): Promise<Measured> {
  if (filter.total !== undefined) return { ...filter, total: filter.total, more: false }
  const { rows } = await sql<{ n: number }>`
    SELECT count(*) AS n FROM (
      SELECT 1 FROM ${sql.table(table)} WHERE ${live(workspace_id)} AND ${filter.where} LIMIT ${few + 1}
    ) AS counted`.execute(db)
  const total = Number(rows[0]?.n)
  return { ...filter, total, more: total > few }
}

/** The filter whose index leads, if one does. */
function leadOf(filters: Measured[], sorting: Sorting, all: number): Measured | undefined {
  const rarest = filters.filter(({ more }) => !more).sort((a, b) => a.total - b.total)
  // Its index has the order already.
  const ordered = sorting.keys.length ? undefined : rarest.find(({ by_id }) => by_id)
  if (ordered) return ordered
  const [first] = rarest
  if (!first) return undefined
  // Of every so many records that the order's index shows, one meets all filters, where they do not depend on each other.
  const share = filters.reduce((part, { total }) => part * (total / Math.max(1, all)), 1)
  return first.total <= few || first.total < 100 / share ? first : undefined
}

const live = (workspace_id: number) => sql<SqlBool>`workspace_id = ${workspace_id} AND deleted_at IS NULL`
const both = (conditions: RawBuilder<SqlBool>[]) => sql<SqlBool>`${sql.join(conditions, sql` AND `)}`

async function totalOf(db: Db, { table, workspace_id }: Asked, filters: Measured[], all: number) {
  const [only, ...others] = [...filters].sort((a, b) => a.total - b.total)
  if (!only) return all
  if (!others.length && !only.more) return only.total
  const where = both([live(workspace_id), only.where, ...others.map(({ plain }) => plain)])
  const { rows } = await sql<{
    n: number
  }>`SELECT count(*) AS n FROM ${sql.table(table)} WHERE ${where}`.execute(db)
  return Number(rows[0]?.n)
}

async function read(
  db: Db,
  { table, workspace_id, sorting }: Asked,
  filters: Measured[],
  lead: Measured | undefined,
  range: Range,
  limit: number,
  offset: number,
): Promise<Row[]> {
  const { keys, descending } = sorting
  // An index that leads an order also answers a filter of the same field.
  const formOf = (filter: Measured) =>
    filter === lead || (!lead && filter.field === keys[0]?.field) ? filter.where : filter.plain
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
  const { rows } = await (lead && !(lead.by_id && !keys.length)
    ? sql<Row>`WITH found AS MATERIALIZED (${found}) SELECT * FROM found ORDER BY ${order((_, n) => sql.ref(`key_${n}`))} ${page}`
    : sql<Row>`${found} ORDER BY ${order(({ by }) => by)} ${page}`
  ).execute(db)
  return rows
}

/** Where a row stands: its keys and its id. */
const placeOf = ({ keys }: Sorting, row: Row): unknown[] => [...keys.map((_, n) => row[`key_${n}`]), row.id]

/** A part of an order: records with a place's first keys (so many are the `same`), beyond it in the next one. */
type Range = { where: RawBuilder<SqlBool>; same: number }
const everything: Range = { where: sql`true`, same: 0 }

/** What comes after a place, as ranges of the order's index, one after the other: none of them reads what it skips. */
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
