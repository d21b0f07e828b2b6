import { type Moment, shownTime } from '../../clock.ts'
import type { Tx } from '../../db/db.ts'
import { prepareAttempts } from '../../db/statements/attempts.ts'
import { storable } from '../../db/statements/recordset.ts'
import type { Attempt } from '../registration/schema.ts'

export type NewAttempt = Omit<Attempt, 'number' | 'request'> & {
  workspace_id: number
  delivery_id: string
  request: { url: string; headers: Record<string, string> }
}

// The caller has locked the delivery's row in the queue or the log. So no two attempts get the same number.
const add = prepareAttempts('webhook_attempts', 'delivery_id', {
  workspace_id: 'bigint!',
  delivery_id: 'text!',
  started_at: 'text!',
  duration_ms: 'bigint!',
  request_url: 'text!',
  request_headers: 'text!',
  response_status: 'bigint',
  response_headers: 'text',
  response_body: 'text',
  error_code: 'text',
  error_message: 'text',
})

/** Adds attempts to the log with the next numbers, in one statement. At most one attempt for each delivery. */
export async function insertAttempts(tx: Tx, attempts: readonly NewAttempt[]): Promise<void> {
  if (!attempts.length) return
  const rows = attempts.map(
    ({ request, response, error, workspace_id, delivery_id, started_at, duration_ms }) => ({
      workspace_id,
      delivery_id,
      started_at,
      duration_ms: Math.round(duration_ms),
      request_url: request.url,
      request_headers: JSON.stringify(request.headers),
      response_status: response?.status ?? null,
      response_headers: response && headersText(response.headers),
      response_body: response && storable(response.body),
      error_code: error?.code ?? null,
      error_message: error && storable(error.message),
    }),
  )
  await add(tx, rows, {})
}

/** The log entry of an attempt without an outcome. */
export const interruptedAttempt = (
  { workspace_id, delivery_id, url }: { workspace_id: number; delivery_id: string; url: string },
  started_ms: number,
  moment: Moment,
): NewAttempt => ({
  workspace_id,
  delivery_id,
  started_at: shownTime(started_ms, moment),
  duration_ms: Math.max(0, moment.elapsed_ms - started_ms),
  request: { url, headers: {} },
  response: null,
  error: {
    code: 'interrupted',
    message:
      'The service stopped, or could not store the outcome of this attempt. The attempt does not count.',
  },
})

// JSON stores a NUL as \u0000, but parsing it restores the NUL. So remove it here.
function headersText(headers: Record<string, string>): string {
  const text = JSON.stringify(headers)
  if (!text.includes('\\u')) return text
  return JSON.stringify(headers, (_, value) => (typeof value === 'string' ? storable(value) : value))
}
