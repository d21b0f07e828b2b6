import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { type Db, transaction } from '../../db.ts'
import type { Filter } from '../../lists/filters.ts'
import type { ContactSearch, SearchResult } from '../../lists/search.ts'
import { prepare } from '../../statements/prepare.ts'
import { id_bits, token_length } from './search-index.ts'

// A match of at most this many contacts is read as a list of ids.
const max_candidates = 2000

/**
 * Searches the index. It finds words of at most 8 characters exactly. The texts of the contacts found decide about longer
 * words. Where the index would find too many contacts, a covering index with all texts is scanned.
 */
export async function searchByTokens(db: Db, search: ContactSearch): Promise<SearchResult> {
  const { workspace_id, words, conditions, limit, offset } = search
  const page = (ids: number[], total: number) => ({ ids: ids.slice(offset, offset + limit), total })
  const live = sql`workspace_id = ${workspace_id} AND deleted_at IS NULL`
  const where = sql.join([live, hasAll(words), ...conditions], sql` AND `)
  const query = await queryOf(db, workspace_id, words)
  if (!query) return scan(db, where, conditions.length > 0, { limit, offset })

  const { match, is_exact } = query
  const { ids, n } = await candidatesOf(db, workspace_id, match)
  const is_simple = is_exact && !conditions.length
  if (n <= max_candidates) {
    if (is_simple) return page(JSON.parse(ids), n)
    const rows = conditions.length
      ? (await siftBy(ids, where).execute(db)).rows
      : await siftByWords(db, { ids, workspace_id, words: JSON.stringify(words) })
    return page(
      rows.map(({ id }) => id),
      rows.length,
    )
  }
  if (!is_simple) return scan(db, where, conditions.length > 0, { limit, offset })
  const total = await countMatches(db, workspace_id, match)
  if (offset + limit <= n) return page(JSON.parse(ids), total)
  const rows = await matchesFrom(db, { workspace_id, match, limit, offset })
  return { ids: rows.map(({ id }) => id), total }
}

/** The condition that a contact's text contains all words. */
export async function tokenFilter(db: Db, workspace_id: number, words: string[]): Promise<Filter> {
  const plain = hasAll(words)
  const query = await queryOf(db, workspace_id, words)
  if (!query) return { where: plain, plain }
  const { match, is_exact } = query
  const { ids, n } = await candidatesOf(db, workspace_id, match)
  const listed = sql<SqlBool>`id IN (SELECT value FROM json_each(${ids}))`
  if (n > max_candidates) {
    if (!is_exact) return { where: plain, plain }
    const where = sql<SqlBool>`id IN (SELECT ${id} ${matching({ workspace_id, match })})`
    return { where, plain, total: await countMatches(db, workspace_id, match) }
  }
  if (is_exact) return { where: listed, plain, total: n }
  return { where: sql<SqlBool>`${listed} AND ${plain}`, plain }
}

const hasAll = (words: string[]) =>
  sql<SqlBool>`${sql.join(
    words.map((word) => sql`instr(search_text, ${word}) > 0`),
    sql` AND `,
  )}`

// The tokenizer of the index separates tokens at these characters.
const separator = /[\0-\x20\x7f]/

// The prefixes of these lengths have an index of their own. A whole token is found without its prefix.
const isFast = (length: number) => length <= 2 || length >= token_length

/**
 * The query of the index that finds all contacts with these words. Exact: it finds no other contacts. Null if it would find
 * too many.
 */
async function queryOf(
  db: Db,
  workspace_id: number,
  words: string[],
): Promise<{ match: string; is_exact: boolean } | null> {
  const terms: string[] = []
  let is_exact = true
  for (const word of words) {
    const { length } = [...word]
    const is_usable = !separator.test(word) && (isFast(length) || !(await isCommon(db, workspace_id, word)))
    if (is_usable) terms.push(...termsOf(word))
    is_exact &&= is_usable && length <= token_length
  }
  return terms.length ? { match: terms.join(' '), is_exact } : null
}

function termsOf(word: string): string[] {
  const characters = [...word]
  const quoted = (from: number) =>
    `"${characters
      .slice(from, from + token_length)
      .join('')
      .replaceAll('"', '""')}"`
  if (characters.length < token_length) return [`${quoted(0)} *`]
  return characters.length === token_length
    ? [quoted(0)]
    : [quoted(0), quoted(characters.length - token_length)]
}

// A prefix costs as much as all its matches, before the first one is known. If more than one in eight of the newest
// contacts has the word, a scan is faster.
const sample_size = 64
const max_in_sample = 8

async function isCommon(db: Db, workspace_id: number, word: string): Promise<boolean> {
  const [row] = await sample(db, { workspace_id, word })
  return Number(row?.n) > max_in_sample
}

const sample = prepare(
  (p: { workspace_id: number; word: string }) => sql<{ n: number }>`SELECT count(*) AS n FROM (
        SELECT search_text FROM contacts INDEXED BY contacts_search_text
        WHERE workspace_id = ${p.workspace_id} AND deleted_at IS NULL ORDER BY id DESC LIMIT ${sql.lit(sample_size)}
      ) WHERE instr(search_text, ${p.word}) > 0`,
)

type Match = { workspace_id: number; match: string }

const id = sql`rowid & ${sql.lit(2 ** id_bits - 1)}`
const matching = ({ workspace_id, match }: Match) => {
  const first = sql`(CAST(${workspace_id} AS INTEGER) << ${sql.lit(id_bits)})`
  return sql`FROM contacts_search WHERE contacts_search MATCH ${match}
    AND rowid BETWEEN ${first} AND ${first} + ${sql.lit(2 ** id_bits - 1)}`
}

/** The newest matches as a JSON array of ids, one more than are read as a list. */
async function candidatesOf(
  db: Db,
  workspace_id: number,
  match: string,
): Promise<{ ids: string; n: number }> {
  const [row] = await candidates(db, { workspace_id, match })
  return row ?? { ids: '[]', n: 0 }
}

const candidates = prepare(
  (p: Match) => sql<{ ids: string; n: number }>`SELECT json_group_array(id) AS ids, count(*) AS n FROM (
        SELECT ${id} AS id ${matching(p)} ORDER BY rowid DESC LIMIT ${sql.lit(max_candidates + 1)}
      )`,
)

async function countMatches(db: Db, workspace_id: number, match: string): Promise<number> {
  const [row] = await count(db, { workspace_id, match })
  return Number(row?.n)
}

const count = prepare((p: Match) => sql<{ n: number }>`SELECT count(*) AS n ${matching(p)}`)

const matchesFrom = prepare(
  (p: Match & { limit: number; offset: number }) => sql<{ id: number }>`SELECT ${id} AS id ${matching(p)}
      ORDER BY rowid DESC LIMIT ${p.limit} OFFSET ${p.offset}`,
)

// CROSS JOIN makes SQLite start with the candidates.
const siftBy = (ids: string, where: RawBuilder<unknown>) => sql<{ id: number }>`
  SELECT contacts.id FROM json_each(${ids}) AS candidate
  CROSS JOIN contacts ON contacts.id = candidate.value WHERE ${where} ORDER BY contacts.id DESC`

const siftByWords = prepare((p: { ids: string; workspace_id: number; words: string }) =>
  siftBy(
    p.ids,
    sql`workspace_id = ${p.workspace_id} AND deleted_at IS NULL
        AND NOT EXISTS (SELECT 1 FROM json_each(${p.words}) AS word WHERE instr(search_text, word.value) = 0)`,
  ),
)

// With common words, the first query ends after few rows. With rare words, its result already gives the total.
async function scan(
  db: Db,
  where: RawBuilder<unknown>,
  filtered: boolean,
  { limit, offset }: Pick<ContactSearch, 'limit' | 'offset'>,
) {
  // With a filter, the filter's index selects fewer records. Without one, read the texts from their covering index.
  const from = filtered ? sql`contacts` : sql`contacts INDEXED BY contacts_search_text`
  const { rows } = await sql<{ id: number }>`
    SELECT id FROM ${from} WHERE ${where} ORDER BY id DESC LIMIT ${limit} OFFSET ${offset}`.execute(db)
  const ids = rows.map((row) => row.id)
  if (ids.length < limit && (ids.length > 0 || offset === 0)) return { ids, total: offset + ids.length }
  const counted = await sql<{ n: number }>`SELECT count(*) AS n FROM ${from} WHERE ${where}`.execute(db)
  return { ids, total: Number(counted.rows[0]?.n) }
}

// The index pages that one transaction writes. It is short enough not to delay requests.
const pages_at_once = 100

/**
 * Removes the tokens of removed texts from the index. They stay in it until FTS5 merges, and the texts could be
 * reconstructed. Rewrites the whole index in small transactions, so call it rarely.
 */
export async function forgetRemoved(db: Db): Promise<void> {
  const changes = sql<{ n: number }>`SELECT total_changes() AS n`
  // A negative number starts a merge of all segments; positive numbers continue it (FTS5 manual, "merge").
  for (let pages = -pages_at_once, changed = 2; changed >= 2; pages = pages_at_once)
    changed = await transaction(db, async (tx) => {
      const before = (await changes.execute(tx)).rows[0]?.n ?? 0
      await sql`INSERT INTO contacts_search (contacts_search, rank) VALUES ('merge', ${pages})`.execute(tx)
      return ((await changes.execute(tx)).rows[0]?.n ?? 0) - before
    })
}
