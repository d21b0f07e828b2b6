import { type RawBuilder, sql } from 'kysely'
import type { Db } from './db.ts'
import { engineOf } from './prepare.ts'

/** What the values of one column are: with `!` never null. */
type Kind = 'text' | 'text!' | 'bigint' | 'bigint!'
type Kinds = Record<string, Kind>
type Value = { text: string | null; 'text!': string; bigint: number | null; 'bigint!': number }
type Row<K extends Kinds> = { [Name in keyof K]: Value[K[Name]] }

/**
 * Rows as one parameter: one text of a statement serves any number of them, so it is compiled and prepared once. `rows`
 * is the JSON text of an array of objects (rowsOf makes it); the result stands where a table does, in brackets already,
 * and wants a name: `FROM ${recordset(db, p.rows, { id: 'text!' })} AS r`, or with Kysely `.as('r')`. Join it with CROSS JOIN and WHERE: that
 * keeps SQLite from starting at the other table.
 */
export function recordset<K extends Kinds>(db: Db, rows: string, columns: K): RawBuilder<Row<K>> {
  const entries = Object.entries(columns)
  if (engineOf(db) === 'sqlite') {
    const values = entries.map(([name]) => sql`value ->> ${sql.lit(name)} AS ${sql.ref(name)}`)
    return sql`(SELECT ${sql.join(values)} FROM json_each(${rows}))`
  }
  const typed = entries.map(([name, kind]) => sql`${sql.ref(name)} ${sql.raw(kind.replace('!', ''))}`)
  return sql`(SELECT * FROM json_to_recordset(${rows}::json) AS rows (${sql.join(typed)}))`
}

/** The parameter of a recordset with these columns; other fields of the rows are left out. */
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
 * A text as both engines store it, whoever wrote it: PostgreSQL refuses the character NUL and halves of characters, so
 * U+FFFD stands for them. For what others send us and we must keep; input of our own clients is refused instead.
 */
export const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '\ufffd')
