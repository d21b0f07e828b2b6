import { sql } from 'kysely'
import { type Db, transaction } from '../db/db.ts'
import type { Seal } from '../db/seal.ts'
import type { StoredAnswer } from '../http/idempotency.ts'

type Row = { key_id: string; path: string; idempotency_key: string; answer: string | null }

const slice = 200
const path = '/api/v1/contacts'

/**
 * Removes the kept answers of idempotency keys that show a contact: of itself, its notes, and what refers to it. They are
 * encrypted and live for a day, so there are few; a request that repeats such a key is done anew.
 */
export async function forgetAnswersOf(
  db: Db,
  seal: Seal,
  workspace_id: number,
  contact_id: number,
): Promise<void> {
  const embedded = new RegExp(String.raw`"contact_id":${contact_id}[,}]|"contact":\{"id":${contact_id},`)
  const shows = ({ path: at, answer }: Row) => {
    if (at.startsWith(`${path}/${contact_id}/`)) return true
    const { body } = answer === null ? { body: '' } : (JSON.parse(seal.open(answer)) as StoredAnswer)
    return (
      embedded.test(body) || (at === path && body.startsWith(`{"success":true,"data":{"id":${contact_id},`))
    )
  }
  let last: Pick<Row, 'key_id' | 'path' | 'idempotency_key'> = { key_id: '', path: '', idempotency_key: '' }
  for (;;) {
    const { rows } = await sql<Row>`
      SELECT key_id, path, idempotency_key, answer FROM idempotency_keys
      WHERE workspace_id = ${workspace_id}
        AND (key_id, path, idempotency_key) > (${last.key_id}, ${last.path}, ${last.idempotency_key})
      ORDER BY key_id, path, idempotency_key LIMIT ${slice}`.execute(db)
    const telling = rows.filter(shows)
    if (telling.length)
      await transaction(db, async (tx) => {
        for (const { key_id, path, idempotency_key } of telling)
          await tx
            .deleteFrom('idempotency_keys')
            .where((eb) => eb.and({ workspace_id, key_id, path, idempotency_key }))
            .execute()
      })
    const end = rows.at(-1)
    if (!end || rows.length < slice) return
    last = end
  }
}
