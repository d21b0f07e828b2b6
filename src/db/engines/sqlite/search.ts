import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { type Db, transaction } from '../../db.ts'
import type { Found, Sought } from '../../lists/search.ts'
import { prepare } from '../../statements/prepare.ts'

// Up to so many candidates the trigram index is quicker than reading the texts of a workspace.
const most_candidates = 2000

/** Searches by the trigram index, or where its words are too short or too common, by reading a covering index. */
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

// A trigram index knows no shorter words. Characters beyond U+FFFF count as one.
const indexed = (words: string[]) => words.filter((word) => [...word].length >= 3)

/** That a contact's text has all the words: where they are rare, one of those that the trigram index knows. */
export async function trigramCondition(db: Db, words: string[]): Promise<RawBuilder<SqlBool>> {
  const candidates = await fewCandidates(db, indexed(words))
  if (!candidates) return hasAll(words)
  return sql`id IN (SELECT value FROM json_each(${JSON.stringify(candidates)})) AND ${hasAll(words)}`
}

// Null where the trigram index is of no use: it knows none of the words, or too many records.
async function fewCandidates(db: Db, long: string[]): Promise<number[] | null> {
  const candidates = long.length ? await findCandidates(db, long) : null
  return candidates && candidates.length <= most_candidates ? candidates : null
}

// Pages of the index that one transaction writes: few enough that nobody waits for it noticeably.
const merged_at_once = 100

/**
 * Takes the parts of removed texts out of the trigram index, where they stay until it happens to merge, and could be put
 * together again. Rewrites the index in small transactions: for a rare occasion.
 */
export async function forgetRemoved(db: Db): Promise<void> {
  const changes = sql<{ n: number }>`SELECT total_changes() AS n`
  // A negative number begins to merge all into one, the positive ones go on with it (FTS5, "merge").
  for (let pages = -merged_at_once, changed = 2; changed >= 2; pages = merged_at_once)
    changed = await transaction(db, async (tx) => {
      const before = (await changes.execute(tx)).rows[0]?.n ?? 0
      await sql`INSERT INTO contacts_search (contacts_search, rank) VALUES ('merge', ${pages})`.execute(tx)
      return ((await changes.execute(tx)).rows[0]?.n ?? 0) - before
    })
}

// The newest records of all workspaces that have every word, one more than are of use.
async function findCandidates(db: Db, words: string[]): Promise<number[]> {
  const phrases = words.map((word) => `"${word.replaceAll('"', '""')}"`).join(' ')
  const rows = await matches(db, { phrases })
  return rows.map((row) => row.id)
}

const matches = prepare((db, p: { phrases: string }) => ({
  compile: () =>
    sql<{ id: number }>`
      SELECT rowid AS id FROM contacts_search WHERE contacts_search MATCH ${p.phrases}
      ORDER BY rowid DESC LIMIT ${most_candidates + 1}`.compile(db),
}))

// CROSS JOIN keeps SQLite from starting at the contacts.
const siftBy = (candidates: string, where: RawBuilder<unknown>) => sql<{ id: number }>`
  SELECT contacts.id FROM json_each(${candidates}) AS candidate
  CROSS JOIN contacts ON contacts.id = candidate.value WHERE ${where} ORDER BY contacts.id DESC`

// The trigram index has found whole words already: what is left to see is whose the records are.
const siftOwn = prepare((db, p: { candidates: string; workspace_id: number }) => ({
  compile: () =>
    siftBy(p.candidates, sql`workspace_id = ${p.workspace_id} AND deleted_at IS NULL`).compile(db),
}))

// Common words fill a page soon, and rare ones need no second reading to be counted.
async function scan(
  db: Db,
  where: RawBuilder<unknown>,
  filtered: boolean,
  { limit, offset }: Pick<Sought, 'limit' | 'offset'>,
) {
  // A filter's own index leads to fewer records; without one, the texts are read from their index alone.
  const from = filtered ? sql`contacts` : sql`contacts INDEXED BY contacts_search_text`
  const { rows } = await sql<{ id: number }>`
    SELECT id FROM ${from} WHERE ${where} ORDER BY id DESC LIMIT ${limit} OFFSET ${offset}`.execute(db)
  const ids = rows.map((row) => row.id)
  if (ids.length < limit && (ids.length > 0 || offset === 0)) return { ids, total: offset + ids.length }
  const counted = await sql<{ n: number }>`SELECT count(*) AS n FROM ${from} WHERE ${where}`.execute(db)
  return { ids, total: Number(counted.rows[0]?.n) }
}
