import type { Schemas } from '../api/client.ts'
import { useTexts } from '../texts/texts.ts'

type Attempt = Pick<Schemas['Attempt'], 'response' | 'error'>

/** The outcome of an attempt: the status of the response, or why there was none. */
export function Outcome({ attempt: { response, error } }: { attempt: Attempt }) {
  const t = useTexts()
  const errors = t.settings.errors as Record<string, { name: string; hint: string } | undefined>
  const failed = error !== null
  const text =
    response && (!error || error.code === 'http_error')
      ? `HTTP ${response.status}`
      : ((error && errors[error.code]?.name) ?? error?.code)
  return (
    <span className="outcome" data-failed={failed || undefined}>
      {text}
    </span>
  )
}
