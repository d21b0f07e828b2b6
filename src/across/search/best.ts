import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { nearParts } from '../../db/lists/near.ts'
import { normaliseText } from '../../db/lists/normalise.ts'
import { phoneKey } from '../../db/lists/same-text.ts'
import {
  beginsWith,
  byName,
  searchContacts,
  searchNearly,
  searchWords,
  textOrNumberFilter,
} from '../../db/lists/search.ts'
import { numberIn } from '../../db/lists/search-numbers.ts'
import { sortName } from '../../db/lists/sort-names.ts'
import type { Resource } from '../../resources/resource.ts'

/** A record that a search found. */
export type Found = { kind: string; id: number; title: string; subtitle: string | null }

/** A search shows at most this many records of each kind. */
export const max_of_kind = 10
// Of those that match anywhere, only the newest are compared.
const compared = 50

type Ranked = Found & { rank: number }

/**
 * The best matches of each kind for a text, best first: its whole name, then a name that begins with it, then one of
 * which a word does, then the others, newest first. If nothing matches, the records that do with one wrong letter.
 */
export async function findBest(
  db: Db,
  resources: readonly Resource[],
  workspace_id: number,
  text: string,
): Promise<Found[]> {
  const words = searchWords(text)
  if (!words.length) return []
  const found: Ranked[] = []
  for (const resource of resources) {
    const ids = await candidates(db, resource, workspace_id, text, words)
    found.push(...bestOf(await ranksOf(db, resource, workspace_id, ids, text)))
  }
  // Names that begin as the text does are found by their index, without reading all.
  const beginning = sortName(text).slice(0, Math.floor(text.trim().length / 2))
  const nearly = nearParts(words).length ? [{ words, beginning }, { words }] : []
  for (const near of nearly)
    if (!found.length)
      for (const resource of resources) {
        const ids = await searchNearly(db, resource.table, workspace_id, near)
        found.push(...bestOf(await ranksOf(db, resource, workspace_id, ids.slice(0, compared), text)))
      }
  return found.sort((a, b) => a.rank - b.rank).map(({ rank: _, ...one }) => one)
}

const bestOf = (ranked: Ranked[]) =>
  ranked.sort((a, b) => a.rank - b.rank || b.id - a.id).slice(0, max_of_kind)

/** The ids of records that may be the best: those whose name begins with the text, and the newest that match. */
async function candidates(
  db: Db,
  resource: Resource,
  workspace_id: number,
  text: string,
  words: string[],
): Promise<number[]> {
  const beginning = await idsOf(db, resource, workspace_id, {
    where: beginsWith(sortName(text)),
    order: sql`sort_name, id`,
  })
  if (!resource.search_index) {
    const [filter] = await textOrNumberFilter(db, resource, workspace_id, text)
    if (!filter) return beginning
    const search = { where: filter.where, order: sql`id DESC` }
    const newest = await idsOf(db, resource, workspace_id, { ...search, of_newest: true })
    if (newest.length === compared) return [...beginning, ...newest]
    return [...beginning, ...(await idsOf(db, resource, workspace_id, search))]
  }
  const { ids } = await searchContacts(db, {
    workspace_id,
    words,
    number: numberIn(text),
    conditions: [],
    limit: compared,
    offset: 0,
  })
  return [...beginning, ...ids]
}

// Common words are found among so many of the newest records.
const most_newest = 2000

type Conditions = { where: RawBuilder<SqlBool>; order: RawBuilder<unknown>; of_newest?: boolean }

async function idsOf(
  db: Db,
  { table, search_text }: Resource,
  workspace_id: number,
  { where, order, of_newest = false }: Conditions,
): Promise<number[]> {
  const from = sql.table(table)
  const live = sql`workspace_id = ${workspace_id} AND deleted_at IS NULL`
  const source = of_newest
    ? sql`(SELECT * FROM ${from} WHERE ${live} ORDER BY id DESC LIMIT ${sql.lit(most_newest)}) AS ${from}`
    : sql`${from} ${search_text.length ? sql`` : byName(db, table)}`
  const { rows } = await sql<{ id: number }>`SELECT id FROM ${source}
    WHERE ${live} AND ${where} ORDER BY ${order} LIMIT ${compared}`.execute(db)
  return rows.map(({ id }) => id)
}

// The end of a number is the same with and without its calling code.
const shown_digits = 6

type Named = Record<string, string | number | null> & { id: number }

async function ranksOf(
  db: Db,
  { table, title, subtitle = '', columns }: Resource,
  workspace_id: number,
  ids: readonly number[],
  text: string,
): Promise<Ranked[]> {
  if (!ids.length) return []
  const plain = normaliseText(text).trim()
  const number = numberIn(text)
  const numbers = number ? ['phone', 'mobile'].filter((name) => name in columns) : []
  const names = [...new Set(['id', ...title.fields, subtitle, ...numbers])].map((name) => sql.ref(name))
  const { rows } = await sql<Named>`SELECT ${sql.join(names)} FROM ${sql.table(table)}
    WHERE workspace_id = ${workspace_id} AND id IN (${sql.join([...new Set(ids)])}) AND deleted_at IS NULL`.execute(
    db,
  )
  return rows.map((row) => {
    const parts = title.fields.map((field) => String(row[field] ?? ''))
    const shown = row[subtitle] === null ? null : String(row[subtitle])
    const rank = Math.min(
      ...[parts, parts.toReversed(), [shown ?? '']].map((name) => rankOf(name.join(' '), plain)),
    )
    // A record that its number found shows this number.
    const end = number?.digits.slice(-shown_digits) ?? ''
    const called = numbers.map((name) => String(row[name] ?? '')).find((one) => phoneKey(one).includes(end))
    return { kind: table, id: row.id, title: parts.join(' '), subtitle: called ?? shown, rank }
  })
}

function rankOf(name: string, text: string): number {
  const plain = normaliseText(name)
  if (plain === text) return 0
  if (plain.startsWith(text)) return 1
  return plain.split(/[^\p{L}\p{N}]+/u).some((word) => word.startsWith(text)) ? 2 : 3
}
