import type { settings } from '../texts/generated/en/settings.ts'

// Not the types of the API and of all texts, so that tests without a browser can import this file.
type Texts = { settings: Pick<typeof settings, 'no_answer_in' | 'delivery_status'> & { errors: object } }

type Ended = { status: number | null; error_code: string | null; duration_ms: number }

/** How an attempt ended, in a few words: the status of its answer, or why it got none. */
export function outcomeOf({ status, error_code, duration_ms }: Ended, t: Texts): string {
  if (status !== null && (error_code === null || error_code === 'http_error')) return `HTTP ${status}`
  if (error_code === 'timeout') return t.settings.no_answer_in({ seconds: Math.round(duration_ms / 1000) })
  const errors = t.settings.errors as Record<string, { name: string } | undefined>
  return errors[error_code ?? '']?.name ?? error_code ?? ''
}

type Listed = {
  last_duration_ms?: number | null
  last_response_status?: number | null
  last_error_code?: string | null
}

/** How the newest attempt of a listed delivery failed; null if it did not. */
export const failureOf = (row: Listed, t: Texts) =>
  row.last_error_code
    ? outcomeOf(
        {
          status: row.last_response_status ?? null,
          error_code: row.last_error_code,
          duration_ms: row.last_duration_ms ?? 0,
        },
        t,
      )
    : null

/** The status of a delivery with what went wrong: Failed · 500. */
export function statusText(
  status: keyof typeof settings.delivery_status,
  failure: string | null | undefined,
  t: Texts,
): string {
  const name = t.settings.delivery_status[status]
  return failure && status !== 'succeeded' && status !== 'cancelled'
    ? `${name} · ${failure.replace(/^HTTP /, '')}`
    : name
}
