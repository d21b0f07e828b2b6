import { sql } from 'kysely'
import { type Db, transaction } from '../db/db.ts'
import type { Seal } from '../db/seal.ts'
import type { StoredAnswer } from '../http/idempotency.ts'
import type { Erasure, LinkedKind } from './redaction.ts'
import type { Linked } from './references.ts'

type Row = { key_id: string; path: string; idempotency_key: string; answer: string | null }

const slice = 200

/**
 * Removes the kept answers of idempotency keys that tell of a contact: of itself, its notes, what refers to it or did
 * once, and keys that name the person themselves. They are encrypted and live for a day, so there are few; a request that
 * repeats such a key is done anew.
 */
export async function forgetAnswersOf(
  db: Db,
  seal: Seal,
  workspace_id: number,
  linked: Linked,
  { contact_id, redact }: Erasure,
): Promise<void> {
  const embedded = new RegExp(String.raw`"contact_id":${contact_id}[,}]|"contact":\{"id":${contact_id},`)
  const tells = (kind: string, id: number) =>
    kind === 'contacts' ? id === contact_id : (linked[kind as LinkedKind]?.has(id) ?? false)
  const shows = ({ path, idempotency_key, answer }: Row) => {
    if (redact(idempotency_key) !== idempotency_key) return true
    const { body } = answer === null ? { body: '' } : (JSON.parse(seal.open(answer)) as StoredAnswer)
    const [, kind = '', of] = /^\/api\/v1\/([a-z-]+)(?:\/(\d+)\/|$)/.exec(path) ?? []
    const id = of ?? /^\{"success":true,"data":\{"id":(\d+),/.exec(body)?.[1]
    return tells(kind, Number(id)) || embedded.test(body)
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
