import { type SqlBool, sql } from 'kysely'
import type { Db } from '../../db.ts'
import type { Found, Sought } from '../../lists/search.ts'

// `%`, `_` and `\\` are plain characters of a word.
export const anywhere = (word: string) => `%${word.replaceAll(/[\\%_]/g, (sign) => `\\${sign}`)}%`

/** That a contact's text has all the words. */
export const likeAll = (words: string[]) =>
  sql<SqlBool>`${sql.join(
    words.map((word) => sql`search_text LIKE ${anywhere(word)}`),
    sql` AND `,
  )}`

/**
 * Searches by LIKE, which the trigram index answers. Not prepared: the server chooses its plan by the words, because a
 * rare one and a common one need different ways.
 */
export async function searchByLike(db: Db, sought: Sought): Promise<Found> {
  const { workspace_id, words, conditions, limit, offset } = sought
  const where = sql.join(
    [sql`workspace_id = ${workspace_id} AND deleted_at IS NULL`, likeAll(words), ...conditions],
    sql` AND `,
  )
  const { rows } = await sql<Found>`
    WITH found AS MATERIALIZED (SELECT id FROM contacts WHERE ${where})
    SELECT (SELECT count(*) FROM found) AS total,
      ARRAY(SELECT id FROM found ORDER BY id DESC LIMIT ${limit} OFFSET ${offset})::float8[] AS ids`.execute(
    db,
  )
  return rows[0] ?? { ids: [], total: 0 }
}
