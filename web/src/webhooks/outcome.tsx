import type { Schemas } from '../api/client.ts'
import { useTexts } from '../texts/with-settings.ts'
import { outcomeOf } from './outcome-text.ts'

type Attempt = Pick<Schemas['Attempt'], 'response' | 'error' | 'duration_ms'>

/** The outcome of an attempt: the status of the response, or why there was none. */
export function Outcome({ attempt: { response, error, duration_ms } }: { attempt: Attempt }) {
  const t = useTexts()
  const status = response?.status ?? null
  const text = outcomeOf({ status, error_code: error?.code ?? null, duration_ms }, t)
  return (
    <span className="outcome" data-failed={error !== null || undefined}>
      {text}
    </span>
  )
}
