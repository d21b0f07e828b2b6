import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { type Db, engineOf, type Tx } from '../tx.ts'
import { compileOnce, ParameterSlot, type Prepared, prepare, run, type Statement, slots } from './prepare.ts'

/** The type of a column; with `!` it is never null. */
type Kind = 'text' | 'text!' | 'bigint' | 'bigint!'
export type Kinds = Record<string, Kind>
type Value = { text: string | null; 'text!': string; bigint: number | null; 'bigint!': number }
type Row<K extends Kinds> = { [Name in keyof K]: Value[K[Name]] }

/** The given rows, for use in the text of a statement. */
type Given<K extends Kinds> = {
  /** The column values of the current row. */
  row: { [Name in keyof K]: RawBuilder<Value[K[Name]]> }
  /**
   * The rows as a table after FROM or USING, or as the first of several tables: `FROM ${rows('first')} companies AS c`.
   * Empty on SQLite.
   */
  rows: (position: 'FROM' | 'USING' | 'first') => RawBuilder<unknown>
  /**
   * The values that an INSERT adds for each row: values of the row, and constants. SQLite uses VALUES: for an INSERT …
   * SELECT it keeps a statement journal, which costs more than the INSERT.
   */
  values: (list: readonly (RawBuilder<unknown> | string | number)[]) => RawBuilder<unknown>
}

/**
 * A statement for any number of given rows, compiled once. `build` describes it for one row; the rows must not depend on
 * each other. `p` has values as in `prepare`. PostgreSQL runs it once, with all rows in one parameter, which saves round
 * trips. SQLite runs an INSERT for 50 rows at once, and other statements for each row: unpacking rows in SQL takes longer.
 */
export function prepareRows<K extends Kinds, R, P extends object = object>(
  columns: K,
  build: (given: Given<K>, p: P, db: Db) => Statement<R>,
) {
  const names = Object.keys(columns)
  const rowOf = (value: (name: string) => RawBuilder<unknown>) =>
    Object.fromEntries(names.map((name) => [name, value(name)])) as Given<K>['row']

  const together = prepare<P & { rows: string }, R>((p, db) => {
    const table = recordset(db, p.rows, columns)
    const row = rowOf((name) => sql.ref(`r.${name}`))
    const rows = (position: string) =>
      position === 'first' ? sql`${table} AS r CROSS JOIN` : sql`${sql.raw(position)} ${table} AS r`
    return build({ row, rows, values: (all) => sql`SELECT ${listOf(all)} FROM ${table} AS r` }, p, db)
  })
  const each = prepareEach<Row<K>, R, P>(names, ({ row, values }, p, db) =>
    build({ row: row as Given<K>['row'], rows: () => sql``, values }, p, db),
  )
  return async (db: Db, rows: readonly Row<K>[], parameters: P): Promise<R[]> => {
    if (!rows.length) return []
    return engineOf(db) === 'postgres'
      ? together(db, { ...parameters, rows: rowsOf(columns, rows) })
      : each(db, rows, parameters)
  }
}

const listOf = (all: readonly (RawBuilder<unknown> | string | number)[]) =>
  sql.join(all.map((value) => (typeof value === 'object' ? value : sql.lit(value))))

type AnyRow = Record<string, unknown>
type Each = { row: Record<string, RawBuilder<unknown>>; values: Given<Kinds>['values'] }

// SQLite copies the pages that a statement changes, so one statement for many rows copies them once. With more rows at
// once, an INSERT of contacts takes longer.
const rows_at_once = [50, 10]

/** The same for SQLite. If `build` calls `values`, its rows must occur nowhere else. */
export function prepareEach<T extends AnyRow, R, P extends object = object>(
  names: readonly string[],
  build: (each: Each, p: P, db: Db) => Statement<R>,
) {
  const statementFor = (count: number) => {
    const compiled = compileOnce((db) => {
      const row = Object.fromEntries(names.map((name) => [name, sql`${new RowSlot(name)}`]))
      const values: Each['values'] = (all) =>
        sql`VALUES ${sql.join(Array.from({ length: count }, () => sql`(${listOf(all)})`))}`
      return build({ row, values }, slots as P, db)
    })
    return { count, compiled }
  }
  const one = statementFor(1).compiled
  const many = rows_at_once.map(statementFor)

  return async (db: Db, rows: readonly T[], parameters: P): Promise<R[]> => {
    const sent: Promise<R[]>[] = []
    let from = 0
    for (const { count, compiled } of many)
      for (; rows.length - from >= count && compiled(db).sql !== one(db).sql; from += count) {
        const [statement, first] = [compiled(db), from]
        const query = {
          ...statement,
          // Made when the statement runs: those of 100,000 rows at once would block the event loop.
          get parameters() {
            return valuesOf(statement, rows.slice(first, first + count), parameters)
          },
        }
        sent.push(run<R>(db, query))
      }
    if (from < rows.length) {
      const each = rows.slice(from).map((row) => valuesOf(one(db), [row], parameters))
      const for_each: Prepared = { ...one(db), parameters: each[0] as unknown[], each }
      sent.push(run<R>(db, for_each))
    }
    return (await Promise.all(sent)).flat()
  }
}

/** The parameters of a statement, which has equally many of each row. */
function valuesOf(query: Prepared, rows: readonly AnyRow[], parameters: object): unknown[] {
  const slots_of_row = rows.length > 1 ? rowSlots(query) / rows.length : Infinity
  let row = rows[0]
  let left = slots_of_row
  let at = 0
  return query.parameters.map((value) => {
    if (value instanceof RowSlot) {
      if (left-- === 0) {
        row = rows[++at]
        left = slots_of_row - 1
      }
      return row?.[value.name]
    }
    return value instanceof ParameterSlot ? parameters[value.name as never] : value
  })
}

const counted = new WeakMap<Prepared, number>()
/** How many parameters of a statement are values of rows. */
function rowSlots(query: Prepared): number {
  let count = counted.get(query)
  if (count === undefined) {
    count = query.parameters.filter((value) => value instanceof RowSlot).length
    counted.set(query, count)
  }
  return count
}

const refs = (names: readonly string[]) => sql.join(names.map((name) => sql.ref(name)))

type Ending<N> = {
  /** The result for a row that exists already: it stays, or gets these columns of the new row with its key. */
  existing?: 'stays' | { key: readonly string[]; gets: readonly string[] }
  /** The columns that are returned of each row that was written. */
  returning?: readonly N[]
}

function endingOf({ existing, returning = [] }: Ending<string>): RawBuilder<unknown> {
  const returned = returning.length ? sql` RETURNING ${refs(returning)}` : sql``
  if (!existing) return returned
  if (existing === 'stays') return sql` ON CONFLICT DO NOTHING${returned}`
  const set = existing.gets.map((name) => sql`${sql.ref(name)} = ${sql.ref(`excluded.${name}`)}`)
  return sql` ON CONFLICT (${refs(existing.key)}) DO UPDATE SET ${sql.join(set)}${returned}`
}

/** An INSERT of rows into a table. PostgreSQL takes a single row as plain parameters, which it plans and runs faster. */
export function prepareInsert<K extends Kinds, N extends keyof K & string = never>(
  table: string,
  columns: K,
  ends: Ending<N> = {},
) {
  type Written = Pick<Row<K>, N>
  const names = Object.keys(columns)
  const into = sql`INSERT INTO ${sql.table(table)} (${refs(names)})`
  const ending = endingOf(ends)
  const insertOne = prepare<Row<K>, Written>(
    (p) => sql<Written>`${into} VALUES (${sql.join(names.map((name) => p[name]))})${ending}`,
  )
  const insertAll = prepareRows(
    columns,
    ({ row, values }) =>
      sql<Written>`${into} ${values(names.map((name) => row[name] as RawBuilder<unknown>))}${ending}`,
  )
  return (tx: Tx, rows: readonly Row<K>[]): Promise<Written[]> =>
    rows.length === 1 ? insertOne(tx, rows[0] as Row<K>) : insertAll(tx, rows, {})
}

class RowSlot extends ParameterSlot {}

/** A list of values as one parameter, for isAnyOf. */
export const listParameter = (db: Db, values: readonly (string | number)[]): unknown =>
  engineOf(db) === 'sqlite' ? JSON.stringify(values) : values

/** A table `chosen` of ids, with `value` and `rowid` in their order. With a list, SQLite may read all rows of a workspace. */
export const chosenValues = (db: Db, ids: unknown): RawBuilder<unknown> =>
  engineOf(db) === 'sqlite'
    ? sql`json_each(${ids}) AS chosen`
    : sql`unnest(${ids}::bigint[]) WITH ORDINALITY AS chosen (value, rowid)`

export const chosenIds = (db: Db, ids: readonly number[]): RawBuilder<unknown> =>
  chosenValues(db, listParameter(db, ids))

/** The condition that a column has one of the values of a listParameter. */
export const isAnyOf = (
  db: Db,
  column: string | RawBuilder<unknown>,
  values: unknown,
  type: 'bigint' | 'text',
): RawBuilder<SqlBool> => {
  const compared = typeof column === 'string' ? sql.ref(column) : column
  return engineOf(db) === 'sqlite'
    ? sql`${compared} IN (SELECT value FROM json_each(${values}))`
    : sql`${compared} = ANY(${values}::${sql.raw(type)}[])`
}

/** Given rows as one parameter, for a statement that runs once on both engines. `rows` is JSON text from rowsOf. */
export function recordset<K extends Kinds>(db: Db, rows: string, columns: K): RawBuilder<Row<K>> {
  const entries = Object.entries(columns)
  if (engineOf(db) === 'sqlite') {
    const values = entries.map(([name]) => sql`value ->> ${sql.lit(name)} AS ${sql.ref(name)}`)
    return sql`(SELECT ${sql.join(values)} FROM json_each(${rows}))`
  }
  const typed = entries.map(([name, kind]) => sql`${sql.ref(name)} ${sql.raw(kind.replace('!', ''))}`)
  return sql`(SELECT * FROM json_to_recordset(${rows}::json) AS rows (${sql.join(typed)}))`
}

/** The JSON parameter of a recordset with these columns. Other fields of the rows are left out. */
export function rowsOf<K extends Kinds>(columns: K, rows: readonly Row<K>[]): string {
  const names = Object.keys(columns)
  return JSON.stringify(
    rows.map((row) => {
      const values: Record<string, unknown> = {}
      for (const name of names) values[name] = row[name]
      return values
    }),
  )
}

/**
 * A text that both engines can store. PostgreSQL refuses NUL and lone surrogates, so U+FFFD replaces them. Use it only for
 * texts of other systems that must be kept: the input of API clients is refused instead.
 */
export function storable(text: string): string {
  const whole = text.toWellFormed()
  return whole.includes('\0') ? whole.replaceAll('\0', '\ufffd') : whole
}
