import type { AttemptNumbers } from '../../http/metrics.ts'
import type { Claim } from './claim.ts'
import type { AttemptOutcome } from './deliver.ts'

/** Outcomes are `succeeded`, `http_3xx`, `http_4xx`, `http_5xx`, or the error code of an attempt without an answer. */
export function measure(
  { kind, tries, created_at }: Pick<Claim, 'kind' | 'tries' | 'created_at'>,
  { ok, response, error, started_at_ms, duration_ms }: AttemptOutcome,
): AttemptNumbers {
  const first = kind === 'event' && tries === 0
  const answered_ms = started_at_ms + duration_ms
  return {
    outcome: ok
      ? 'succeeded'
      : response
        ? `http_${Math.floor(response.status / 100)}xx`
        : String(error?.code),
    seconds: duration_ms / 1000,
    // A clock that was set back must not make the sum of a histogram decrease.
    receipt: first && response ? Math.max(0, answered_ms - Date.parse(created_at)) / 1000 : null,
  }
}
