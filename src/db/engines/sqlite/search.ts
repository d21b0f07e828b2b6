import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { type Db, transaction } from '../../db.ts'
import type { Found, Sought } from '../../lists/search.ts'
import { prepare } from '../../statements/prepare.ts'

// With more candidates than this, reading all texts of a workspace is faster than the trigram index.
const max_candidates = 2000

/** Searches the trigram index. If all words are too short or too common, it scans a covering index instead. */
export async function searchByTrigrams(db: Db, sought: Sought): Promise<Found> {
  const { workspace_id, words, conditions, limit, offset } = sought
  const live = sql`workspace_id = ${workspace_id} AND deleted_at IS NULL`
  const where = sql.join([live, hasAll(words), ...conditions], sql` AND `)
  const long = indexed(words)
  const candidates = await fewCandidates(db, long)
  if (candidates) {
    const list = JSON.stringify(candidates)
    const simple = !conditions.length && long.length === words.length
    const found = simple
      ? await siftOwn(db, { candidates: list, workspace_id })
      : (await siftBy(list, where).execute(db)).rows
    const ids = found.slice(offset, offset + limit).map((row) => row.id)
    return { ids, total: found.length }
  }
  return scan(db, where, conditions.length > 0, { limit, offset })
}

const hasAll = (words: string[]) =>
  sql<SqlBool>`${sql.join(
    words.map((word) => sql`instr(search_text, ${word}) > 0`),
    sql` AND `,
  )}`

// A trigram index cannot find words of one or two characters. A character above U+FFFF counts as one.
const indexed = (words: string[]) => words.filter((word) => [...word].length >= 3)

/** The condition that a contact's text contains all words. Rare words use the trigram index. */
export async function trigramCondition(db: Db, words: string[]): Promise<RawBuilder<SqlBool>> {
  const candidates = await fewCandidates(db, indexed(words))
  if (!candidates) return hasAll(words)
  return sql`id IN (SELECT value FROM json_each(${JSON.stringify(candidates)})) AND ${hasAll(words)}`
}

// Null when the trigram index does not help: all words are too short, or too many records match.
async function fewCandidates(db: Db, long: string[]): Promise<number[] | null> {
  const candidates = long.length ? await findCandidates(db, long) : null
  return candidates && candidates.length <= max_candidates ? candidates : null
}

// The index pages that one transaction writes. It is short enough not to delay requests.
const pages_at_once = 100

/**
 * Removes the trigrams of removed texts from the index. They stay in it until FTS5 merges, and the texts could be
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

// The newest records of all workspaces that contain every word. One more than the limit shows that there are too many.
async function findCandidates(db: Db, words: string[]): Promise<number[]> {
  const phrases = words.map((word) => `"${word.replaceAll('"', '""')}"`).join(' ')
  const rows = await matches(db, { phrases })
  return rows.map((row) => row.id)
}

const matches = prepare((db, p: { phrases: string }) => ({
  compile: () =>
    sql<{ id: number }>`
      SELECT rowid AS id FROM contacts_search WHERE contacts_search MATCH ${p.phrases}
      ORDER BY rowid DESC LIMIT ${max_candidates + 1}`.compile(db),
}))

// CROSS JOIN makes SQLite start with the candidates.
const siftBy = (candidates: string, where: RawBuilder<unknown>) => sql<{ id: number }>`
  SELECT contacts.id FROM json_each(${candidates}) AS candidate
  CROSS JOIN contacts ON contacts.id = candidate.value WHERE ${where} ORDER BY contacts.id DESC`

// The trigram index has already checked the words. Only the workspace and deleted_at remain.
const siftOwn = prepare((db, p: { candidates: string; workspace_id: number }) => ({
  compile: () =>
    siftBy(p.candidates, sql`workspace_id = ${p.workspace_id} AND deleted_at IS NULL`).compile(db),
}))

// With common words, the first query ends after few rows. With rare words, its result already gives the total.
async function scan(
  db: Db,
  where: RawBuilder<unknown>,
  filtered: boolean,
  { limit, offset }: Pick<Sought, 'limit' | 'offset'>,
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
