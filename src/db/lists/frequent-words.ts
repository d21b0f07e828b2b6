import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Db } from '../db.ts'
import { prepare } from '../statements/prepare.ts'
import { adapterOf, engineOf } from '../tx.ts'
import { block_size } from './pages.ts'
import type { ContactSearch, SearchResult } from './search.ts'

// The total of a search for words that very many contacts have. This process keeps how many contacts of each block of ids
// have the words. Triggers count the changes of a block, so a search counts the blocks again that changed since.

type Block = { block: number; changes: number; n: number }
type Kept = Map<number, Block>

// The index counts fewer contacts in a few milliseconds.
const frequent_from = 10_000
// Each has a number for each 4,096 contacts.
const max_kept = 100
// SQLite reads the texts of a block in 1 ms, and blocks other requests meanwhile.
const blocks_at_once = 8

const of_databases = new WeakMap<object, Map<string, Kept>>()

/** The kept numbers by their searches, the most recently used last. */
function keptOf(db: Db): Map<string, Kept> {
  const engine = adapterOf(db)
  const all = of_databases.get(engine) ?? new Map<string, Kept>()
  of_databases.set(engine, all)
  return all
}

type Words = Pick<ContactSearch, 'workspace_id' | 'words'>
const keyOf = ({ workspace_id, words }: Words) => [workspace_id, ...words].join('\n')

/** Whether a search before found so many contacts that their numbers are kept. */
export const isFrequent = (db: Db, search: Words): boolean => keptOf(db).has(keyOf(search))

/** Decides by the total of a search whether numbers are kept for the next one. */
export function noteTotal(db: Db, search: Words, total: number): void {
  const all = keptOf(db)
  const key = keyOf(search)
  const numbers = all.get(key)
  all.delete(key)
  if (total >= frequent_from) all.set(key, numbers ?? new Map())
  const [oldest] = all.keys()
  if (oldest !== undefined && all.size > max_kept) all.delete(oldest)
}

/** The live contacts that have all words. No transaction is open: the numbers count what is committed. */
export async function searchFrequent(db: Db, search: ContactSearch): Promise<SearchResult> {
  const { workspace_id, words, limit, offset } = search
  const blocks = await countBlocks(db, search)
  const total = blocks.reduce((sum, { n }) => sum + n, 0)
  noteTotal(db, search, total)
  // The blocks that have the page. A page skips all blocks before them.
  let skipped = 0
  let counted = 0
  const of_page = blocks.filter(({ n }) => {
    counted += n
    if (counted <= offset) skipped = counted
    return counted > offset && counted - n < offset + limit
  })
  const [newest, oldest] = [of_page[0], of_page.at(-1)]
  if (!newest || !oldest) return { ids: [], total }
  const { rows } = await sql<{ id: number }>`SELECT id ${texts(db, workspace_id)}
    AND id >= ${oldest.block * block_size} AND id < ${(newest.block + 1) * block_size} AND ${hasAll(db, words)}
    ORDER BY id DESC LIMIT ${limit} OFFSET ${offset - skipped}`.execute(db)
  return { ids: rows.map(({ id }) => id), total }
}

/** The blocks of a workspace, newest first, with the number of contacts that have all words. */
async function countBlocks(db: Db, search: Words): Promise<Block[]> {
  const { workspace_id, words } = search
  const numbers = keptOf(db).get(keyOf(search)) ?? new Map<number, Block>()
  const blocks = await changesOf(db, { workspace_id })
  const changed = blocks.filter(({ block, changes }) => numbers.get(block)?.changes !== Number(changes))
  for (let from = 0; from < changed.length; from += blocks_at_once) {
    const some = changed.slice(from, from + blocks_at_once).map(({ block }) => block)
    // One statement, so that the number of changes belongs to the counted state.
    const { rows } = await sql<Block>`SELECT b.block, b.changes, (SELECT count(*) ${texts(db, workspace_id)}
        AND id >= b.block * ${sql.lit(block_size)} AND id < (b.block + 1) * ${sql.lit(block_size)}
        AND ${hasAll(db, words)}) AS n
      FROM (${changesWhere(workspace_id, sql`block IN (${sql.join(some)})`)}) AS b`.execute(db)
    for (const { block, changes, n } of rows)
      numbers.set(block, { block, changes: Number(changes), n: Number(n) })
  }
  return blocks.flatMap(({ block }) => numbers.get(block) ?? [])
}

const changesWhere = (workspace_id: number, condition: RawBuilder<unknown>) =>
  sql`SELECT block, sum(changes) AS changes FROM record_blocks
    WHERE workspace_id = ${workspace_id} AND kind = 'contacts' AND ${condition} GROUP BY block`

const changesOf = prepare(
  (p: { workspace_id: number }) =>
    sql<Omit<Block, 'n'>>`${changesWhere(p.workspace_id, sql`TRUE`)} ORDER BY block DESC`,
)

const texts = (db: Db, workspace_id: number) => {
  const index = engineOf(db) === 'sqlite' ? sql`INDEXED BY contacts_search_text` : sql``
  return sql`FROM contacts ${index} WHERE workspace_id = ${workspace_id} AND deleted_at IS NULL`
}

// Unlike LIKE, strpos does not make PostgreSQL read its index of trigrams for each block.
const hasAll = (db: Db, words: readonly string[]) => {
  const place = sql.raw(engineOf(db) === 'sqlite' ? 'instr' : 'strpos')
  return sql<SqlBool>`${sql.join(
    words.map((word) => sql`${place}(search_text, ${word}) > 0`),
    sql` AND `,
  )}`
}
