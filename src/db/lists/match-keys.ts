import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Db } from '../db.ts'
import { engineOf } from '../tx.ts'
import { lowerCase, lowerCased } from './letter-case.ts'

// Expressions by which equal values are found. Each is that of an index of live records, which the condition selects.

/** The key of an index: its expression, and the condition of its rows, which are also live. */
export type MatchKey = { key: RawBuilder<string>; where: RawBuilder<SqlBool> }

// As migration 0023 has them.
const separators = [' ', '-', '(', ')', '+', '.', '/']

/** A column without the separators of telephone numbers. */
export const withoutSeparators = (db: Db, column: string) =>
  engineOf(db) === 'sqlite'
    ? separators.reduce(
        (text, one) => sql<string>`replace(${text}, ${sql.lit(one)}, '')`,
        sql<string>`${sql.ref(column)}`,
      )
    : sql<string>`translate(${sql.ref(column)} COLLATE "C", ${sql.lit(separators.join(''))}, '')`

/** The fields of single values whose equal values are found. */
export type MatchField = 'email' | 'phone' | 'website'

/** The address of a website, without case and without the slash at its end. */
export const websiteKey = (website: string): string => lowerCased(website).replace(/\/$/, '')

/**
 * The results of these expressions for a value. A telephone number has a second one, without the separators of other
 * programs; a website has one with a slash at its end.
 */
export function matchKeysOf(field: MatchField, value: string): string[] {
  if (field === 'email') return [lowerCased(value)]
  if (field === 'website') return [websiteKey(value), `${websiteKey(value)}/`]
  return [...new Set([value, plainForm(value)].map(withoutThem))]
}

const withoutThem = (phone: string) => separators.reduce((text, one) => text.replaceAll(one, ''), phone)

// No-break spaces, dashes of all widths, marks of direction, full-width digits and brackets. The index does not know them.
const plainForm = (phone: string) => phone.normalize('NFKC').replaceAll(/[\p{Z}\p{Pd}\p{Cf}\u2212]/gu, '')

export const match_keys: Record<MatchField | 'name', (db: Db) => MatchKey> = {
  email: (db) => ({ key: lowerCase(db, 'email'), where: sql<SqlBool>`email IS NOT NULL` }),
  phone: (db) => ({ key: withoutSeparators(db, 'phone'), where: sql<SqlBool>`phone IS NOT NULL` }),
  website: (db) => ({ key: lowerCase(db, 'website'), where: sql<SqlBool>`website IS NOT NULL` }),
  name: () => ({ key: sql<string>`sort_name`, where: sql<SqlBool>`TRUE` }),
}
