import { sql } from 'kysely'
import { type Db, transaction } from '../../db/db.ts'
import { createPace } from '../../db/pace.ts'
import type { Seal } from '../../db/seal.ts'
import type { StoredAnswer } from '../../http/idempotency.ts'
import { createNaming, type Named } from './person.ts'
import type { LinkedIds } from './references.ts'
import { createRedaction } from './settings.ts'

type Row = { key_id: string; path: string; idempotency_key: string; answer: string | null }

/** The erased record, the records that its person booked, the JSON prefixes of its embedded copies, and its values. */
type Erased = { kind: string; id: number; linked: LinkedIds; copies: readonly string[]; named: Named }

// Answers may be long, and each one that is read is decrypted.
const slice = 20

// Answers of these paths hold payloads as JSON inside JSON, so their records are unknown.
const showsDeliveries = /^\/api\/v1\/(?:deliveries\/[^/]+\/resend|webhooks\/[^/]+\/test)$/

/**
 * Removes stored answers of idempotency keys that hold data of an erased record: those of the record, its notes and its
 * person's bookings, those with an embedded copy of it or a text that names it, and all that show a delivery. Answers are encrypted and live
 * for a day, so there are few. A request that repeats such a key runs again.
 */
export async function forgetAnswersOf(
  db: Db,
  seal: Seal,
  workspace_id: number,
  { kind, id, linked, copies, named }: Erased,
): Promise<void> {
  const isErased = (of: string, number: number) =>
    of === kind ? number === id : (linked.get(of)?.get(number) ?? false)
  const naming = createNaming(named)
  const redact = createRedaction(naming)
  const isAbout = ({ path, answer, idempotency_key }: Row) => {
    if (naming.names(idempotency_key)) return true
    const asked = decodeURI(path)
    const { body } = answer === null ? { body: '' } : (JSON.parse(seal.open(answer)) as StoredAnswer)
    if (body && (showsDeliveries.test(asked) || redact(body, '') !== body)) return true
    return (
      recordsOf(asked, body).some((record) => isErased(...record)) ||
      copies.some((text) => body.includes(text))
    )
  }
  const pace = createPace()
  let last: Pick<Row, 'key_id' | 'path' | 'idempotency_key'> = { key_id: '', path: '', idempotency_key: '' }
  for (;;) {
    const { rows } = await sql<Row>`
      SELECT key_id, path, idempotency_key, answer FROM idempotency_keys
      WHERE workspace_id = ${workspace_id}
        AND (key_id, path, idempotency_key) > (${last.key_id}, ${last.path}, ${last.idempotency_key})
      ORDER BY key_id, path, idempotency_key LIMIT ${slice}`.execute(db)
    const about: Row[] = []
    for (const row of rows) {
      if (isAbout(row)) about.push(row)
      await pace()
    }
    if (about.length)
      await transaction(db, async (tx) => {
        for (const { key_id, path, idempotency_key } of about)
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

/**
 * The records that a path names, such as /api/v1/contacts/1/notes; a path without an id names the record of the answer.
 */
function recordsOf(path: string, body: string): [kind: string, id: number][] {
  const parts = path.split('/').slice(3)
  const answered = /^\{"success":true,"data":\{"id":(\d+),/.exec(body)?.[1]
  return parts.flatMap((kind, i): [string, number][] =>
    i % 2 ? [] : [[kind.replaceAll('-', '_'), Number(parts[i + 1] ?? answered)]],
  )
}
