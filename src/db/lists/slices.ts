import { setImmediate as turn } from 'node:timers/promises'
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Db } from '../db.ts'

type Condition = RawBuilder<SqlBool>

/** A part of a table that one index gives in order. */
export type Range = {
  table: string
  /** The first columns of the index are equal in the whole range. */
  along: Condition
  /** The next columns of the index, which together name one row. */
  order: readonly string[]
  descending?: boolean
  /** Where the range begins in its order, and where it ends: one bound each. */
  first?: Condition | undefined
  last?: Condition | undefined
}

/** The condition of a slice's rows; a full slice has as many rows as were asked for. */
export type Slice = { where: Condition; is_full: boolean }

const all = sql<SqlBool>`TRUE`

/**
 * Cuts a range into slices of `size` rows, in its order, so that no statement grows with the table. Between two slices the
 * event loop turns; in a transaction, the engine decides when. Rows that change meanwhile are seen as they were or as they are.
 */
export async function* slicesOf(db: Db, range: Range, size: number): AsyncGenerator<Slice> {
  const { table, along, order, descending = false, first = all, last = all } = range
  const names = order.map((name) => sql.ref(name))
  const columns = sql.join(names)
  const ordered = sql.join(names.map((name) => (descending ? sql`${name} DESC` : name)))
  const [beyond, up_to] = descending ? [sql`<`, sql`>=`] : [sql`>`, sql`<=`]
  for (let start = first; ; ) {
    const { rows } = await sql<Record<string, unknown>>`SELECT ${columns} FROM ${sql.table(table)}
      WHERE ${along} AND ${start} AND ${last} ORDER BY ${ordered} LIMIT 1 OFFSET ${size - 1}`.execute(db)
    const [end] = rows
    if (!end) return yield { where: sql`${along} AND ${start} AND ${last}`, is_full: false }
    const place = sql`(${sql.join(order.map((name) => end[name]))})`
    // One bound at each end: of two, SQLite would follow only one, and look through what the other leaves out.
    yield { where: sql`${along} AND ${start} AND (${columns}) ${up_to} ${place}`, is_full: true }
    start = sql`(${columns}) ${beyond} ${place}`
    if (!db.isTransaction) await turn()
  }
}
