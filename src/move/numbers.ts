import { sql } from 'kysely'
import type { Db, Tx } from '../db/db.ts'
import { engineOf } from '../db/tx.ts'
import type { Table } from './tables.ts'

/** The largest number that a table has given to a row, also to a removed one. 0 for none, null if rows have no number. */
export async function lastNumber(db: Db, { name, numbered }: Table): Promise<number | null> {
  if (!numbered) return null
  const statement =
    engineOf(db) === 'sqlite'
      ? sql<{ n: number }>`SELECT seq AS n FROM sqlite_sequence WHERE name = ${name}`
      : sql<{ n: number }>`
          SELECT CASE WHEN is_called THEN last_value ELSE last_value - 1 END AS n
          FROM ${await sequenceOf(db, name, numbered)}`
  const { rows } = await statement.execute(db)
  return rows[0]?.n ?? 0
}

async function sequenceOf(db: Db, table: string, column: string) {
  const statement = sql<{ name: string }>`SELECT pg_get_serial_sequence(${table}, ${column}) AS name`
  const { rows } = await statement.execute(db)
  // The server has quoted the name.
  return sql.raw(String(rows[0]?.name))
}

/** Sets the number after which the next row of a table counts. Unlike setval, a rollback undoes it. */
export async function continueAfter(tx: Tx, { name, numbered }: Table, last: number): Promise<void> {
  if (!numbered) return
  if (tx.engine === 'sqlite') {
    await sql`DELETE FROM sqlite_sequence WHERE name = ${name}`.execute(tx)
    await sql`INSERT INTO sqlite_sequence (name, seq) VALUES (${name}, ${last})`.execute(tx)
    return
  }
  await sql`ALTER TABLE ${sql.table(name)} ALTER COLUMN ${sql.ref(numbered)} RESTART WITH ${sql.lit(last + 1)}`.execute(
    tx,
  )
}
