import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Db } from '../db.ts'
import type { Deletable } from '../records.ts'
import { engineOf } from '../tx.ts'
import type { Filter } from './filters.ts'
import { phoneKey, withoutSeparators, withoutUnseen } from './same-text.ts'

// Telephone numbers in a search. The index of their keys is read as a whole, so that no write has to index parts of numbers.

/** The digits of a telephone number, or of a part of it, in a query, and the rest of the query. */
export type WrittenNumber = { digits: string; is_whole: boolean; rest: string }

// Fewer digits are in nearly every number.
const min_digits = 4
const of_number = /^[\d+()./\p{Pd}\u2212]+$/u

/** The number that a query writes in words beside each other, such as `+1 (555) 010-0`; null without one. */
export function numberIn(query: string): WrittenNumber | null {
  const words = withoutUnseen(query.normalize('NFKC')).split(/\s+/).filter(Boolean)
  const from = words.findIndex((word) => of_number.test(word))
  if (from < 0) return null
  const length = words.slice(from).findIndex((word) => !of_number.test(word))
  const end = length < 0 ? words.length : from + length
  const written = words.slice(from, end).join(' ')
  const key = phoneKey(written)
  const is_international = /^\(?(\+|00)/.test(written)
  // Numbers are stored with their calling code, or with a 0 in its place.
  const digits = key.length >= national_digits ? key.replace(/^0/, '') : key
  if (digits.length < min_digits || !/^\d+$/.test(withoutSeparators(digits))) return null
  const is_whole = is_international ? digits.length > national_digits : digits.length >= 10
  return { digits, is_whole, rest: [...words.slice(0, from), ...words.slice(end)].join(' ') }
}

// A number without its calling code has at least as many digits.
const national_digits = 6

/** The keys of numbers that are the same as a whole number: without its calling code, or with a 0 more or less after it. */
export function formsOf(digits: string): string[] {
  const lengths = [1, 2, 3].filter((n) => digits.length - n >= national_digits)
  return lengths.flatMap((n) => {
    const [code, rest] = [digits.slice(0, n), digits.slice(n)]
    return [rest, `0${rest}`, `${code}0${rest}`, ...(rest.startsWith('0') ? [code + rest.slice(1)] : [])]
  })
}

/** The ids of the live records with a number that has these digits. `columns` have the keys of their numbers. */
function idsWith(
  db: Db,
  table: Deletable,
  workspace_id: number,
  columns: readonly string[],
  { digits, is_whole }: WrittenNumber,
): RawBuilder<{ id: number }> {
  const is_sqlite = engineOf(db) === 'sqlite'
  const conditions = columns.map((column) => {
    const key = sql.ref(column)
    const has = is_sqlite ? sql`instr(${key}, ${digits}) > 0` : sql`strpos(${key}, ${digits}) > 0`
    return is_whole ? sql`${has} OR ${key} IN (${sql.join(formsOf(digits))})` : has
  })
  // The index of companies has no others.
  const present = columns.length > 1 ? sql`` : sql`AND ${sql.ref(String(columns[0]))} IS NOT NULL`
  const index = is_sqlite ? sql`INDEXED BY ${sql.ref(`${table}_by_phone`)}` : sql``
  return sql`SELECT id FROM ${sql.table(table)} ${index}
    WHERE workspace_id = ${workspace_id} AND deleted_at IS NULL ${present} AND (${sql.join(conditions, sql` OR `)})`
}

// A longer list is read again by its query.
const max_listed = 2000

/** The condition that a record has the number of a query; null if none has. */
export async function hasNumber(
  db: Db,
  table: Deletable,
  workspace_id: number,
  columns: readonly string[],
  number: WrittenNumber,
): Promise<RawBuilder<SqlBool> | null> {
  const ids = idsWith(db, table, workspace_id, columns, number)
  const { rows } = await sql<{ id: number }>`
    SELECT id FROM (${ids}) AS found LIMIT ${sql.lit(max_listed + 1)}`.execute(db)
  if (!rows.length) return null
  const listed = rows.length > max_listed ? ids : sql.join(rows.map(({ id }) => id))
  return sql<SqlBool>`${sql.ref(`${table}.id`)} IN (${listed})`
}

/** A filter by the text of a query, or by its number and the rest of its text. */
export const orByNumber = (text: Filter, number: RawBuilder<SqlBool>, rest: readonly Filter[]): Filter => {
  const by_number = sql.join([number, ...rest.map(({ plain }) => plain)], sql` AND `)
  const { field } = text
  return {
    ...(field !== undefined && { field }),
    where: sql<SqlBool>`(${text.where} OR (${by_number}))`,
    plain: sql<SqlBool>`(${text.plain} OR (${by_number}))`,
  }
}
