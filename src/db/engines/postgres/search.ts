import { type SqlBool, sql } from 'kysely'
import type { Db } from '../../db.ts'
import type { ContactSearch, SearchResult } from '../../lists/search.ts'

/** The LIKE pattern that finds a word anywhere in a text. `%`, `_` and `\` are escaped. */
export const anywhere = (word: string) => `%${word.replaceAll(/[\\%_]/g, (sign) => `\\${sign}`)}%`

/** The condition that a contact's text contains all words. */
export const likeAll = (words: string[]) =>
  sql<SqlBool>`${sql.join(
    words.map((word) => sql`search_text LIKE ${anywhere(word)}`),
    sql` AND `,
  )}`

/**
 * Searches with LIKE, which uses the trigram index. Not a prepared statement: rare and common words need different plans,
 * so the server must plan for the actual words.
 */
export async function searchByLike(db: Db, search: ContactSearch): Promise<SearchResult> {
  const { workspace_id, words, conditions, limit, offset } = search
  const where = sql.join(
    [sql`workspace_id = ${workspace_id} AND deleted_at IS NULL`, likeAll(words), ...conditions],
    sql` AND `,
  )
  const { rows } = await sql<SearchResult>`
    WITH found AS MATERIALIZED (SELECT id FROM contacts WHERE ${where})
    SELECT (SELECT count(*) FROM found) AS total,
      ARRAY(SELECT id FROM found ORDER BY id DESC LIMIT ${limit} OFFSET ${offset})::float8[] AS ids`.execute(
    db,
  )
  return rows[0] ?? { ids: [], total: 0 }
}
