import { sql } from 'kysely'
import type { Db } from '../db.ts'
import { engineOf } from '../tx.ts'

// Lower-case only A to Z, as SQLite does, so that both engines find the same rows.

/** A text column in lower case, in the same form as in its index. */
export const lowerCase = (db: Db, column: string) =>
  engineOf(db) === 'sqlite'
    ? sql<string>`lower(${sql.ref(column)})`
    : sql<string>`lower(${sql.ref(column)} COLLATE "C")`

/** The text to compare with such a column. */
export const lowerCased = (text: string): string =>
  text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
