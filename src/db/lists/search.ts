import { type Expression, type SqlBool, sql } from 'kysely'
import type { Db } from '../db.ts'
import { anywhere, likeAll, searchByLike } from '../engines/postgres/search.ts'
import { forgetRemoved, searchByTrigrams, trigramCondition } from '../engines/sqlite/search.ts'
import { engineOf } from '../statements/prepare.ts'
import type { Filter } from './filters.ts'

// Letters that Unicode does not decompose, in the spelling that people type without them.
const spelt: Record<string, string> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
  ħ: 'h',
  ŧ: 't',
  // The last letter of a Greek word must also match in its middle.
  ς: 'σ',
}
const undecomposed = new RegExp(`[${Object.keys(spelt).join('')}]`, 'g')

/** Lower case, without accents. Two texts that differ in nothing else become equal (contract: lists). */
export function normaliseText(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[\u0300-\u036f]/g, '')
    .replaceAll(undecomposed, (letter) => spelt[letter] as string)
    .normalize('NFC')
}

/** The text of a record that searches look at, from its fields. No word matches across the line breaks. */
export const searchText = (texts: readonly string[]): string => normaliseText(texts.join('\n'))

/** The words of a query, normalised, longest first; without those that another one contains. */
export function searchWords(query: string): string[] {
  const words = [...new Set(normaliseText(query).split(/\s+/).filter(Boolean))]
  return words
    .filter((word) => !words.some((other) => other !== word && other.includes(word)))
    .sort((a, b) => b.length - a.length)
}

/** What is looked for: words (at least one) and conditions that name columns of `contacts`. */
export type Sought = {
  workspace_id: number
  words: string[]
  conditions: Expression<SqlBool>[]
  limit: number
  offset: number
}
/** The ids of one page, newest first, and the exact number of all. */
export type Found = { ids: number[]; total: number }

/** Lets the index of the search forget what was removed; PostgreSQL's does by itself. */
export const forgetSearched = async (db: Db): Promise<void> => {
  if (engineOf(db) === 'sqlite') await forgetRemoved(db)
}

/** The condition that a contact has all the words, for lists that are not newest first, or not by pages. */
export async function searchFilter(db: Db, words: string[]): Promise<Filter> {
  const where = engineOf(db) === 'postgres' ? likeAll(words) : await trigramCondition(db, words)
  return { where, plain: where }
}

/**
 * The condition that a name has all the words of a text, for what is found by its name alone: companies and deals. Their
 * sort_name holds the first hundred characters, in an index that has the order by name too. No word, no condition.
 */
export function nameFilter(text: string | undefined): Filter[] {
  const words = searchWords(text ?? '')
  if (!words.length) return []
  // SQLite's LIKE has no escape character of its own.
  const has = words.map((word) => sql<SqlBool>`sort_name LIKE ${anywhere(word)} ESCAPE '\\'`)
  const where = sql<SqlBool>`(${sql.join(has, sql` AND `)})`
  return [{ field: 'name', where, plain: where }]
}

/** The live contacts of a workspace that have all the words and meet the conditions. */
export const searchContacts = (db: Db, sought: Sought): Promise<Found> =>
  (engineOf(db) === 'postgres' ? searchByLike : searchByTrigrams)(db, sought)
