import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { type Db, engineOf } from '../tx.ts'

// JSON that the database writes, with the bytes of JSON.stringify. Both engines have concat and string_agg. PostgreSQL's
// functions for objects write blanks, and take longer.

/** A member of an object: its value is JSON text. The object has it only `when` a condition holds. */
export type Member = { name: string; text: RawBuilder<unknown>; when?: RawBuilder<SqlBool> }

/** The JSON text of a text, a number or null. */
export const jsonOf = (db: Db, value: RawBuilder<unknown>): RawBuilder<string> =>
  engineOf(db) === 'sqlite' ? sql`json_quote(${value})` : sql`coalesce(to_json(${value}), 'null')`

/** The JSON text of a number that is stored in parts of one, a power of ten: never with an exponent. */
export function decimalText(stored: RawBuilder<unknown>, of_one: number): RawBuilder<string> {
  const one = sql.lit(of_one)
  const decimals = sql`rtrim(substr(CAST(${one} + ${stored} % ${one} AS text), 2), '0')`
  return sql`CASE WHEN ${stored} IS NULL THEN 'null' WHEN ${stored} % ${one} = 0 THEN CAST(${stored} / ${one} AS text)
    ELSE concat(${stored} / ${one}, '.', ${decimals}) END`
}

/** The JSON text of an object. Its first member has no condition. */
export function jsonObject(members: readonly Member[]): RawBuilder<string> {
  const parts = members.flatMap(({ name, text, when }, index) => {
    const key = sql.lit(`${index ? ',' : '{'}"${name}":`)
    // concat leaves null out.
    return when ? [sql`CASE WHEN ${when} THEN concat(${key}, ${text}) END`] : [key, text]
  })
  return sql`concat(${sql.join(parts)}, '}')`
}

/** Several rows as one text, and their number. */
export type Texts = { count: number; text: string }
export const no_texts: Texts = { count: 0, text: '' }

/** The column `text` of a query's rows as one text, in their order. */
export const joinTexts = (rows: RawBuilder<unknown>, separator: string) => sql<Texts>`
  SELECT count(*) AS count, coalesce(string_agg(text, ${sql.lit(separator)}), '') AS text FROM (${rows}) AS rows`
