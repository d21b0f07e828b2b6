import { type Expression, type SqlBool, sql } from 'kysely'
import type { Db } from '../db.ts'
import { anywhere, likeAll, searchByLike } from '../engines/postgres/search.ts'
import { forgetRemoved, searchByTokens, tokenFilter } from '../engines/sqlite/search.ts'
import { engineOf } from '../tx.ts'
import type { Filter } from './filters.ts'
import { normaliseText } from './normalise.ts'

/** The searched text of a record, from its fields. A word contains no line break, so it matches within one field. */
export const searchText = (texts: readonly string[]): string => normaliseText(texts.join('\n'))

/** The normalised words of a query, longest first. A word that is part of another word is left out. */
export function searchWords(query: string): string[] {
  const words = [...new Set(normaliseText(query).split(/\s+/).filter(Boolean))]
  return words
    .filter((word) => !words.some((other) => other !== word && other.includes(word)))
    .sort((a, b) => b.length - a.length)
}

/** A search: at least one word, and conditions on columns of `contacts`. */
export type ContactSearch = {
  workspace_id: number
  words: string[]
  conditions: Expression<SqlBool>[]
  limit: number
  offset: number
}
/** The ids of one page, newest first, and the exact total. */
export type SearchResult = { ids: number[]; total: number }

/** Removes the traces of removed texts from the search index. PostgreSQL's index keeps none. */
export const forgetSearched = async (db: Db): Promise<void> => {
  if (engineOf(db) === 'sqlite') await forgetRemoved(db)
}

/** The condition that a contact contains all words, for lists with another order or a cursor. */
export async function searchFilter(db: Db, workspace_id: number, words: string[]): Promise<Filter> {
  if (engineOf(db) === 'sqlite') return tokenFilter(db, workspace_id, words)
  const where = likeAll(words)
  return { where, plain: where }
}

/**
 * The condition that a name contains all words of a text, for companies and deals. It searches sort_name, which has the
 * first 100 characters and is in the index of the order by name. No condition without a word.
 */
export function nameFilter(text: string | undefined): Filter[] {
  const words = searchWords(text ?? '')
  if (!words.length) return []
  // SQLite's LIKE has no escape character of its own.
  const has = words.map((word) => sql<SqlBool>`sort_name LIKE ${anywhere(word)} ESCAPE '\\'`)
  const where = sql<SqlBool>`(${sql.join(has, sql` AND `)})`
  return [{ field: 'name', where, plain: where }]
}

/** The live contacts of a workspace that contain all words and match the conditions. */
export const searchContacts = (db: Db, search: ContactSearch): Promise<SearchResult> =>
  (engineOf(db) === 'postgres' ? searchByLike : searchByTokens)(db, search)
