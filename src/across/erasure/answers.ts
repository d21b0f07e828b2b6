import { sql } from 'kysely'
import { type Db, transaction } from '../../db/db.ts'
import type { Seal } from '../../db/seal.ts'
import type { StoredAnswer } from '../../http/idempotency.ts'
import type { Linked } from './references.ts'
import { createPace } from './slices.ts'

type Row = { key_id: string; path: string; idempotency_key: string; answer: string | null }

/** What is erased: a record, what refers to it, how JSON does so, and the mentions of a person. */
type Erased = {
  kind: string
  id: number
  linked: Linked
  mentions: readonly string[]
  redact: (text: string) => string
}

// An answer may be long, and all that is read is decrypted.
const slice = 20

// Whose payloads they show cannot be seen: it stands in a text in a text.
const showsDeliveries = /^\/api\/v1\/(?:deliveries\/[^/]+\/resend|webhooks\/[^/]+\/test)$/

/**
 * Removes the kept answers of idempotency keys that tell of an erased record: of itself and, of a contact, its notes, what
 * refers to it or did once, and keys that name the person themselves; also all that show a delivery. They are encrypted
 * and live for a day, so there are few; a request that repeats such a key is done anew.
 */
export async function forgetAnswersOf(
  db: Db,
  seal: Seal,
  workspace_id: number,
  { kind, id, linked, mentions, redact }: Erased,
): Promise<void> {
  const refers = (body: string) => mentions.some((text) => body.includes(text))
  const tells = (of: string, number: number) =>
    of === kind ? number === id : (linked.get(of)?.has(number) ?? false)
  const shows = ({ path, idempotency_key, answer }: Row) => {
    if (redact(idempotency_key) !== idempotency_key) return true
    const { body } = answer === null ? { body: '' } : (JSON.parse(seal.open(answer)) as StoredAnswer)
    const asked = decodeURI(path)
    if (body && showsDeliveries.test(asked)) return true
    return recordsOf(asked, body).some((one) => tells(...one)) || refers(body)
  }
  const pace = createPace()
  let last: Pick<Row, 'key_id' | 'path' | 'idempotency_key'> = { key_id: '', path: '', idempotency_key: '' }
  for (;;) {
    const { rows } = await sql<Row>`
      SELECT key_id, path, idempotency_key, answer FROM idempotency_keys
      WHERE workspace_id = ${workspace_id}
        AND (key_id, path, idempotency_key) > (${last.key_id}, ${last.path}, ${last.idempotency_key})
      ORDER BY key_id, path, idempotency_key LIMIT ${slice}`.execute(db)
    const telling: Row[] = []
    for (const row of rows) {
      if (shows(row)) telling.push(row)
      await pace()
    }
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

/** The records that a path names, such as /api/v1/contacts/1/notes; what has no id there is the record of the answer. */
function recordsOf(path: string, body: string): [kind: string, id: number][] {
  const parts = path.split('/').slice(3)
  const answered = /^\{"success":true,"data":\{"id":(\d+),/.exec(body)?.[1]
  return parts.flatMap((kind, i): [string, number][] =>
    i % 2 ? [] : [[kind.replaceAll('-', '_'), Number(parts[i + 1] ?? answered)]],
  )
}
