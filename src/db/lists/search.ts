import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Db } from '../db.ts'
import { anywhere, likeAll, searchByLike } from '../engines/postgres/search.ts'
import { forgetRemoved, searchByTokens, tokenFilter } from '../engines/sqlite/search.ts'
import type { Deletable } from '../records.ts'
import { engineOf } from '../tx.ts'
import type { Filter } from './filters.ts'
import { isFrequent, noteTotal, searchFrequent } from './frequent-words.ts'
import { isNearly, nearParts } from './near.ts'
import { normaliseText } from './normalise.ts'
import { hasNumber, numberIn, orByNumber, type WrittenNumber } from './search-numbers.ts'

/** The searched text of a record, from its fields. A word contains no line break, so it matches within one field. */
export const searchText = (texts: readonly string[]): string => normaliseText(texts.join('\n'))

/** The normalised words of a query, longest first. A word that is part of another word is left out. */
export function searchWords(query: string): string[] {
  const words = [...new Set(normaliseText(query).split(/\s+/).filter(Boolean))]
  return words
    .filter((word) => !words.some((other) => other !== word && other.includes(word)))
    .sort((a, b) => b.length - a.length)
}

// Columns with the keys of the telephone numbers of contacts.
const contact_numbers = ['phone_key', 'mobile_key']

/** A search: at least one word, and conditions on columns of `contacts`. */
export type ContactSearch = {
  workspace_id: number
  words: string[]
  /** The telephone number that the words write. */
  number?: WrittenNumber | null
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

/** The condition that a contact contains all words, or has their number, for lists with another order or a cursor. */
export async function searchFilter(
  db: Db,
  workspace_id: number,
  words: string[],
  number: WrittenNumber | null = null,
): Promise<Filter> {
  const with_number = number && (await numberFilter(db, workspace_id, words, number))
  return with_number ?? textFilter(db, workspace_id, words)
}

/** The condition that a contact contains all words, or has their number; null if no contact has the number. */
async function numberFilter(db: Db, workspace_id: number, words: string[], number: WrittenNumber) {
  const by_number = await hasNumber(db, 'contacts', workspace_id, contact_numbers, number)
  if (!by_number) return null
  const rest = searchWords(number.rest)
  const others = rest.length ? [await textFilter(db, workspace_id, rest)] : []
  return orByNumber(await textFilter(db, workspace_id, words), by_number, others)
}

async function textFilter(db: Db, workspace_id: number, words: string[]): Promise<Filter> {
  if (engineOf(db) === 'sqlite') return tokenFilter(db, workspace_id, words)
  const where = likeAll(words)
  return { where, plain: where }
}

/**
 * The condition that the stored text of a record contains all words of a text. By default it searches sort_name, which has
 * the first 100 characters of the name and is in the index of the order by name. No condition without a word.
 */
function wordsFilter({ search_text }: Texts, text: string): Filter[] {
  const words = searchWords(text)
  if (!words.length) return []
  const column = sql.ref(search_text.length ? 'search_text' : 'sort_name')
  // SQLite's LIKE has no escape character of its own.
  const has = words.map((word) => sql<SqlBool>`${column} LIKE ${anywhere(word)} ESCAPE '\\'`)
  const where = sql<SqlBool>`(${sql.join(has, sql` AND `)})`
  return [{ ...(!search_text.length && { field: 'name' }), where, plain: where }]
}

type Texts = { table: Deletable; numbers: readonly string[]; search_text: readonly string[] }

/** The condition that a record's text contains all words of a text, or that it has the number that they write. */
export async function textOrNumberFilter(
  db: Db,
  resource: Texts,
  workspace_id: number,
  text = '',
): Promise<Filter[]> {
  const { table, numbers } = resource
  const [words] = wordsFilter(resource, text)
  const number = words && numbers.length ? numberIn(text) : null
  const by_number = number && (await hasNumber(db, table, workspace_id, numbers, number))
  if (!words || !number || !by_number) return words ? [words] : []
  return [orByNumber(words, by_number, wordsFilter(resource, number.rest))]
}

/** The live contacts of a workspace that contain all words, or have their number, and match the conditions. */
export async function searchContacts(db: Db, search: ContactSearch): Promise<SearchResult> {
  const { workspace_id, words, number } = search
  const with_number = number && (await numberFilter(db, workspace_id, words, number))
  if (with_number) return searchWhere(db, search, with_number)
  const is_plain = !search.conditions.length && !db.isTransaction
  if (is_plain && isFrequent(db, search)) return searchFrequent(db, search)
  const found = await (engineOf(db) === 'postgres' ? searchByLike : searchByTokens)(db, search)
  if (is_plain) noteTotal(db, search, found.total)
  return found
}

async function searchWhere(
  db: Db,
  { workspace_id, conditions, limit, offset }: ContactSearch,
  { where }: Filter,
): Promise<SearchResult> {
  const all = [sql`workspace_id = ${workspace_id} AND deleted_at IS NULL`, where, ...conditions]
  const found = sql`FROM contacts WHERE ${sql.join(all, sql` AND `)}`
  const { rows } = await sql<{
    id: number
  }>`SELECT id ${found} ORDER BY id DESC LIMIT ${limit} OFFSET ${offset}`.execute(db)
  const counted = await sql<{ n: number }>`SELECT count(*) AS n ${found}`.execute(db)
  return { ids: rows.map(({ id }) => id), total: Number(counted.rows[0]?.n) }
}

// Of the records with the parts of a nearly equal text, only the newest are compared.
const max_compared = 1000

/**
 * The ids of the live records that have all words, one of them with one wrong letter, newest first: those whose name begins
 * with a text, or all.
 */
export async function searchNearly(
  db: Db,
  table: Deletable,
  workspace_id: number,
  { words, beginning }: { words: string[]; beginning?: string },
): Promise<number[]> {
  const is_sqlite = engineOf(db) === 'sqlite'
  const in_text = table === 'contacts' && beginning === undefined
  const text = sql.ref(in_text ? 'search_text' : 'sort_name')
  const hasPart = (part: string) =>
    is_sqlite ? sql<SqlBool>`instr(${text}, ${part}) > 0` : sql<SqlBool>`${text} LIKE ${anywhere(part)}`
  const hasAllParts = (parts: string[]) =>
    in_text && !is_sqlite && parts.length > 1 ? beginsWord(parts) : all(parts.map(hasPart))
  const conditions: Expression<SqlBool>[] = []
  if (beginning !== undefined) conditions.push(beginsWith(beginning))
  else
    for (const { others, lists } of nearParts(words))
      if (in_text && is_sqlite)
        for (const parts of lists)
          conditions.push((await tokenFilter(db, workspace_id, [...others, ...parts])).where)
      else conditions.push(all([...others.map(hasPart), any(lists.map(hasAllParts))]))
  if (!conditions.length) return []
  const { rows } = await sql<{ id: number; text: string }>`
    SELECT id, ${text} AS text FROM ${sql.table(table)} ${in_text ? sql`` : byName(db, table)}
    WHERE workspace_id = ${workspace_id} AND deleted_at IS NULL AND ${any(conditions)}
    ORDER BY id DESC LIMIT ${max_compared}`.execute(db)
  return rows.filter(({ text }) => isNearly(words, text)).map(({ id }) => id)
}

// PostgreSQL's trigrams find the first two letters of a word, but no two letters inside of it.
const beginsWord = (parts: string[]) => {
  const word = parts.map((part) => anywhere(part).slice(1)).join('')
  return any(['', '% ', '%\n'].map((before) => sql`search_text LIKE ${before + word}`))
}

const all = (conditions: Expression<SqlBool>[]) => sql<SqlBool>`(${sql.join(conditions, sql` AND `)})`
const any = (conditions: Expression<SqlBool>[]) => sql<SqlBool>`(${sql.join(conditions, sql` OR `)})`

/** The condition that a name begins with a text, in the form of sort_name. */
export const beginsWith = (start: string): RawBuilder<SqlBool> =>
  // The highest character of Unicode follows every name that begins so.
  sql`(sort_name >= ${start} AND sort_name < ${`${start}\u{10ffff}`})`

/** Makes SQLite read the names of all records from their index. It is smaller than the table. */
export const byName = (db: Db, table: Deletable): RawBuilder<unknown> =>
  engineOf(db) === 'sqlite' ? sql`INDEXED BY ${sql.ref(`${table}_by_name`)}` : sql``
