import { type Compilable, type RawBuilder, sql } from 'kysely'
import type { Db } from '../db.ts'
import { compileOnce, engineOf, ParameterSlot, type Prepared, prepare, run, slots } from './prepare.ts'

/** The type of a column; with `!` it is never null. */
type Kind = 'text' | 'text!' | 'bigint' | 'bigint!'
type Kinds = Record<string, Kind>
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
 * trips. SQLite runs it once for each row: unpacking the rows in SQL took three times as long.
 */
export function prepareRows<K extends Kinds, R, P extends object = object>(
  columns: K,
  build: (db: Db, given: Given<K>, p: P) => Compilable<R>,
) {
  const names = Object.keys(columns)
  const rowOf = (value: (name: string) => RawBuilder<unknown>) =>
    Object.fromEntries(names.map((name) => [name, value(name)])) as Given<K>['row']

  const list = (all: readonly (RawBuilder<unknown> | string | number)[]) =>
    sql.join(all.map((value) => (typeof value === 'object' ? value : sql.lit(value))))

  const together = prepare<P & { rows: string }, R>((db, p) => {
    const table = recordset(db, p.rows, columns)
    const row = rowOf((name) => sql.ref(`r.${name}`))
    const rows = (position: string) =>
      position === 'first' ? sql`${table} AS r CROSS JOIN` : sql`${sql.raw(position)} ${table} AS r`
    return build(db, { row, rows, values: (all) => sql`SELECT ${list(all)} FROM ${table} AS r` }, p)
  })
  const single = compileOnce((db) => {
    const row = rowOf((name) => sql`${new RowSlot(name)}`)
    return build(db, { row, rows: () => sql``, values: (all) => sql`VALUES (${list(all)})` }, slots as P)
  })

  return async (db: Db, rows: readonly Row<K>[], parameters: P): Promise<R[]> => {
    if (!rows.length) return []
    if (engineOf(db) === 'postgres') return together(db, { ...parameters, rows: rowsOf(columns, rows) })
    const query = single(db)
    const each = rows.map((row) =>
      query.parameters.map((value) => {
        if (value instanceof RowSlot) return row[value.name]
        return value instanceof ParameterSlot ? parameters[value.name as keyof P] : value
      }),
    )
    const for_each: Prepared = { ...query, parameters: each[0] as unknown[], each }
    return run<R>(db, for_each)
  }
}

/** An INSERT of rows into a table. PostgreSQL takes a single row as plain parameters, which it plans and runs faster. */
export function prepareInsert<K extends Kinds>(table: string, columns: K) {
  const names = Object.keys(columns)
  const into = sql`INSERT INTO ${sql.table(table)} (${sql.join(names.map((name) => sql.ref(name)))})`
  const insertOne = prepare<Row<K>, never>((db, p) => ({
    compile: () => sql<never>`${into} VALUES (${sql.join(names.map((name) => p[name]))})`.compile(db),
  }))
  const insertAll = prepareRows(columns, (db, { row, values }) => ({
    compile: () =>
      sql<never>`${into} ${values(names.map((name) => row[name] as RawBuilder<unknown>))}`.compile(db),
  }))
  return (tx: Db, rows: readonly Row<K>[]): Promise<unknown> =>
    rows.length === 1 ? insertOne(tx, rows[0] as Row<K>) : insertAll(tx, rows, {})
}

class RowSlot extends ParameterSlot {}

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
