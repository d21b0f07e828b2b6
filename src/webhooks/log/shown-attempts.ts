import { type Selectable, sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { bytesOf, fitting } from '../../db/sizes.ts'
import type { Tables } from '../../db/tables.ts'
import type { Attempt } from '../registration/schema.ts'

// Limits of the detail view. An attempt's answer has up to 16 KiB of headers and 16 KiB of body.
const max_attempts = 100
const max_attempts_bytes = 512 * 1024
// The request bodies of all attempts together. Above this limit, only the newest attempt has the body.
const max_bodies_bytes = 1024 * 1024
const long_texts = ['request_url', 'request_headers', 'response_headers', 'response_body']

type AttemptRow = Selectable<Tables['webhook_attempts']>

/** The newest attempts of a delivery within the limits, oldest first. */
export async function newestAttempts(
  db: Db,
  workspace_id: number,
  delivery_id: string,
): Promise<AttemptRow[]> {
  const attempts = db.selectFrom('webhook_attempts').where((eb) => eb.and({ workspace_id, delivery_id }))
  const sizes = await attempts
    .select(['number', sql<number>`${sql.join(long_texts.map(bytesOf), sql` + `)}`.as('bytes')])
    .orderBy('number', 'desc')
    .limit(max_attempts)
    .execute()
  const oldest = sizes[fitting(sizes, max_attempts_bytes).count - 1]
  if (!oldest) return []
  return attempts.selectAll().where('number', '>=', oldest.number).orderBy('number').execute()
}
function attemptOf(row: AttemptRow, body: string | null): Attempt {
  const { number, started_at, duration_ms, response_status: status, error_code } = row
  const response =
    status === null
      ? null
      : { status, headers: JSON.parse(row.response_headers ?? '{}'), body: row.response_body ?? '' }
  const error = error_code === null ? null : { code: error_code, message: row.error_message ?? '' }
  const request = { url: row.request_url, headers: JSON.parse(row.request_headers), body }
  return { number, started_at, duration_ms, request, response, error }
}

/** Attempts as the API returns them. All attempts sent the same body; a long one appears only in the newest attempt. */
export function shownAttempts(rows: readonly AttemptRow[], body: string): Attempt[] {
  const repeats = Buffer.byteLength(body) * rows.length <= max_bodies_bytes
  return rows.map((row, n) => attemptOf(row, repeats || n === rows.length - 1 ? body : null))
}
