import { useState } from 'react'
import { useDraftKey } from '../app/draft-key.ts'
import { keepFields, readFields } from '../app/drafts.ts'
import { written } from './written.ts'

type FormValues = Record<string, unknown>

// The headers of a webhook may have credentials.
const secrets = ['secret', 'own_secret', 'headers', 'password', 'current_password', 'new_password']

/** The draft of a form: what was written in an earlier opening and neither sent nor discarded. */
export function useFormDraft<Values extends FormValues>(name: string | undefined, start: Values) {
  const key = useDraftKey(name)
  const [[initial, found]] = useState((): [Values, boolean] => {
    const known = Object.entries(readFields(key) ?? {}).filter(([field]) => field in start)
    return [{ ...start, ...Object.fromEntries(known) }, known.length > 0]
  })
  const [restored, setRestored] = useState(found)
  function keep(values: Values) {
    const fields = Object.entries(written(values, start)).filter(([field]) => !secrets.includes(field))
    keepFields(key, Object.fromEntries(fields))
  }
  return {
    initial,
    restored,
    keep,
    discard() {
      keepFields(key, {})
      setRestored(false)
    },
    /** Keeps what was refused, unless a later opening has a draft of its own. */
    keepRefused(values: Values, closed: boolean) {
      if (!closed || readFields(key) === null) keep(values)
    },
  }
}
