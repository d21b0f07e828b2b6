import { sql } from 'kysely'
import type { Db } from '../db.ts'
import { engineOf } from '../statements/prepare.ts'

// Of A to Z alone, as SQLite does it: so both engines find the same.

/** A text column in lower case, exactly as its index has it. */
export const lowerCase = (db: Db, column: string) =>
  engineOf(db) === 'sqlite'
    ? sql<string>`lower(${sql.ref(column)})`
    : sql<string>`lower(${sql.ref(column)} COLLATE "C")`

/** What such a column is compared with. */
export const lowerCased = (text: string): string =>
  text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
