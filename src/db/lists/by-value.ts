import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Db } from '../db.ts'
import type { Deletable } from '../records.ts'
import type { Filter } from './filters.ts'
import { countMatching, cutPage, type IdPage, type Page } from './lists.ts'

// Lists in the order of a defined custom field. The index of defined_values has the records with a value. The records
// without a value come after them, by id. A descending order reverses both parts.

type Request = { table: Deletable; workspace_id: number; filters: Filter[]; page: Page }
type Order = { definition_id: number; descending: boolean }
type Row = { id: number; sort_value: string | null }

const both = (conditions: readonly RawBuilder<SqlBool>[]) => sql<SqlBool>`${sql.join(conditions, sql` AND `)}`

/** One page of the live records that meet all filters, in the order of a defined custom field. */
export async function findByValue(db: Db, request: Request, order: Order): Promise<IdPage> {
  const { page } = request
  const parts = partsOf(db, request, order)
  if ('offset' in page) {
    const total = await countMatching(db, request)
    const rows: Row[] = []
    let skipped = page.offset
    for (const { count, read } of parts) {
      if (rows.length === page.per_page) break
      const length = await count(total)
      if (skipped < length) rows.push(...(await read(page.per_page - rows.length, skipped, null)))
      skipped = Math.max(0, skipped - length)
    }
    return { ids: rows.map(({ id }) => id), total, next: null }
  }
  const rows: Row[] = []
  const after = page.after && placeOf(page.after)
  // A cursor in the second part skips the first one.
  const from = after ? parts.findIndex(({ valued }) => valued === (after.sort_value !== null)) : 0
  for (const [n, { read }] of parts.slice(from).entries()) {
    if (rows.length > page.per_page) break
    rows.push(...(await read(page.per_page + 1 - rows.length, 0, n === 0 ? after : null)))
  }
  const { shown, last } = cutPage(rows, page.per_page)
  return { ids: shown.map(({ id }) => id), total: null, next: last ? cursorOf(last) : null }
}

// A text, so that the cursor of every order by a field has the same parts: v and the value, or n for none.
const cursorOf = ({ id, sort_value }: Row): unknown[] => [sort_value === null ? 'n' : `v${sort_value}`, id]
const placeOf = ([text, id]: readonly unknown[]): Row => ({
  id: Number(id),
  sort_value: String(text).startsWith('v') ? String(text).slice(1) : null,
})

function partsOf(db: Db, { table, workspace_id, filters }: Request, { definition_id, descending }: Order) {
  const of_field = sql<SqlBool>`d.workspace_id = ${workspace_id} AND d.definition_id = ${definition_id}`
  const id = sql.ref(`${table}.id`)
  const conditions = [
    sql<SqlBool>`${sql.ref(`${table}.workspace_id`)} = ${workspace_id}`,
    sql<SqlBool>`${sql.ref(`${table}.deleted_at`)} IS NULL`,
    ...filters.map(({ plain }) => plain),
  ]
  const down = descending ? sql` DESC` : sql``
  const beyond = descending ? sql`<` : sql`>`
  const valued_from = sql`defined_values AS d JOIN ${sql.table(table)} ON ${id} = d.record_id`
  const valued_where = both([of_field, ...conditions])
  const countValued = async () => {
    // A record in the trash has no row, so without filters the rows are the records.
    const counted = filters.length
      ? sql<{ n: number }>`SELECT count(*) AS n FROM ${valued_from} WHERE ${valued_where}`
      : sql<{ n: number }>`SELECT count(*) AS n FROM defined_values AS d WHERE ${of_field}`
    return Number((await counted.execute(db)).rows[0]?.n)
  }
  const valued = {
    valued: true,
    count: () => countValued(),
    async read(limit: number, offset: number, after: Row | null): Promise<Row[]> {
      const place = after
        ? sql` AND (d.sort_value, d.record_id) ${beyond} (${after.sort_value}, ${after.id})`
        : sql``
      const { rows } =
        await sql<Row>`SELECT ${id} AS id, d.sort_value FROM ${valued_from} WHERE ${valued_where}${place}
        ORDER BY d.sort_value${down}, d.record_id${down} LIMIT ${limit} OFFSET ${offset}`.execute(db)
      return rows
    },
  }
  const others = {
    valued: false,
    count: async (total: number) => total - (await countValued()),
    async read(limit: number, offset: number, after: Row | null): Promise<Row[]> {
      const lacks = sql<SqlBool>`NOT EXISTS (SELECT 1 FROM defined_values AS d WHERE ${of_field} AND d.record_id = ${id})`
      const place = after ? sql` AND ${id} ${beyond} ${after.id}` : sql``
      const { rows } = await sql<Row>`SELECT ${id} AS id, NULL AS sort_value FROM ${sql.table(table)}
        WHERE ${both([...conditions, lacks])}${place} ORDER BY ${id}${down} LIMIT ${limit} OFFSET ${offset}`.execute(
        db,
      )
      return rows
    },
  }
  return descending ? [others, valued] : [valued, others]
}

/** Records whose value of a defined custom field is in a range of sort texts; both ends are inclusive. */
export function valueWithin(
  table: string,
  workspace_id: number,
  definition_id: number,
  from: string | undefined,
  to: string | undefined,
): Filter {
  const matching = sql`SELECT d.record_id FROM defined_values AS d WHERE ${both([
    sql<SqlBool>`d.workspace_id = ${workspace_id} AND d.definition_id = ${definition_id}`,
    ...(from === undefined ? [] : [sql<SqlBool>`d.sort_value >= ${from}`]),
    ...(to === undefined ? [] : [sql<SqlBool>`d.sort_value <= ${to}`]),
  ])}`
  const id = sql.ref(`${table}.id`)
  return {
    probe: matching,
    // A record in the trash has no row.
    count: sql<{ n: number }>`SELECT count(*) AS n FROM (${matching}) AS of_range`,
    where: sql`${id} IN (${matching})`,
    plain: sql`EXISTS (${matching} AND d.record_id = ${id})`,
  }
}
