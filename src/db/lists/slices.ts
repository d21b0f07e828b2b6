import { setImmediate as turn } from 'node:timers/promises'
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Db } from '../db.ts'

type Condition = RawBuilder<SqlBool>

/** A part of a table that one index returns in order. */
export type Range = {
  table: string
  /** Equality on the first columns of the index. */
  along: Condition
  /** The next columns of the index, which together are unique. */
  order: readonly string[]
  descending?: boolean
  /** The start and the end of the range in its order: at most one bound each. */
  first?: Condition | undefined
  last?: Condition | undefined
}

/** The condition of a slice's rows. A full slice has `size` rows; only the last one may have fewer. */
export type Slice = { where: Condition; is_full: boolean }

const all = sql<SqlBool>`TRUE`

/**
 * Cuts a range into slices of `size` rows, in order. So the time of a statement does not grow with the table. It yields
 * to the event loop between slices; in a transaction, the engine does. A concurrent change may or may not be seen.
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
    const position = sql`(${sql.join(order.map((name) => end[name]))})`
    // Use one bound at each end. Of two bounds, SQLite uses one, and reads the rows that the other excludes.
    yield { where: sql`${along} AND ${start} AND (${columns}) ${up_to} ${position}`, is_full: true }
    start = sql`(${columns}) ${beyond} ${position}`
    if (!db.isTransaction) await turn()
  }
}
