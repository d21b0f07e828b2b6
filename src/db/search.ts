import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Db } from './db.ts'
import { prepare } from './prepare.ts'

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

type Searched = { first_name: string; last_name: string; email: string | null }

/** The text of a contact that searches look at. No word can reach over the line breaks. */
export const searchText = ({ first_name, last_name, email }: Searched): string =>
  normaliseText([first_name, last_name, email ?? ''].join('\n'))

/** The words of a query, normalised, longest first; without those that another one contains. */
export function searchWords(query: string): string[] {
  const words = [...new Set(normaliseText(query).split(/\s+/).filter(Boolean))]
  return words
    .filter((word) => !words.some((other) => other !== word && other.includes(word)))
    .sort((a, b) => b.length - a.length)
}

type Page = { limit: number; offset: number }
type Conditions = Expression<SqlBool>[]

// Up to so many candidates the trigram index is quicker than reading the texts of a workspace.
const most_candidates = 2000

/**
 * The live contacts of a workspace that have all the words (at least one) and meet the conditions: the ids of one
 * page, newest first, and the exact number of all. Conditions name columns of `contacts`.
 */
export async function searchContacts(
  db: Db,
  workspace_id: number,
  words: string[],
  conditions: Conditions,
  page: Page,
): Promise<{ ids: number[]; total: number }> {
  const live = sql`workspace_id = ${workspace_id} AND deleted_at IS NULL`
  const where = sql.join(
    [live, ...words.map((word) => sql`instr(search_text, ${word}) > 0`), ...conditions],
    sql` AND `,
  )
  // A trigram index knows no shorter words. Characters beyond U+FFFF count as one.
  const long = words.filter((word) => [...word].length >= 3)
  const candidates = long.length ? await findCandidates(db, long) : null
  if (candidates && candidates.length <= most_candidates) {
    const list = JSON.stringify(candidates)
    const simple = !conditions.length && long.length === words.length
    const found = simple
      ? await siftOwn(db, { candidates: list, workspace_id })
      : (await siftBy(list, where).execute(db)).rows
    const ids = found.slice(page.offset, page.offset + page.limit).map((row) => row.id)
    return { ids, total: found.length }
  }
  return scan(db, where, conditions.length > 0, page)
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
async function scan(db: Db, where: RawBuilder<unknown>, filtered: boolean, { limit, offset }: Page) {
  // A filter's own index leads to fewer records; without one, the texts are read from their index alone.
  const from = filtered ? sql`contacts` : sql`contacts INDEXED BY contacts_search_text`
  const { rows } = await sql<{ id: number }>`
    SELECT id FROM ${from} WHERE ${where} ORDER BY id DESC LIMIT ${limit} OFFSET ${offset}`.execute(db)
  const ids = rows.map((row) => row.id)
  if (ids.length < limit && (ids.length > 0 || offset === 0)) return { ids, total: offset + ids.length }
  const counted = await sql<{ n: number }>`SELECT count(*) AS n FROM ${from} WHERE ${where}`.execute(db)
  return { ids, total: Number(counted.rows[0]?.n) }
}
