import { createContext, use, useCallback, useState } from 'react'
import { useDraftKey } from '../app/draft-key.ts'
import { keepFields, readFields } from '../app/drafts.ts'

type Value = string | number | null
/** An edit that was not saved: its value, or the text of one that was not complete, and the value it began with. */
type FieldDraft = { value: Value; began: Value; text?: string }

/** The record whose fields keep drafts. */
export const DraftScope = createContext<string | undefined>(undefined)

/** The draft of an edit in place; `found` is that of before a reload or another page, until it is saved or discarded. */
export function useFieldDraft(name: string | undefined, value: Value) {
  const scope = use(DraftScope)
  const key = useDraftKey(name === undefined || scope === undefined ? undefined : `${scope}-${name}`)
  const [found, setFound] = useState((): FieldDraft | null => {
    const draft = readFields(key) as FieldDraft | null
    // Stored by a request that was under way.
    return draft && draft.text === undefined && draft.value === value ? null : draft
  })
  const keep = useCallback(
    (now: Value, began: Value) => keepFields(key, (now ?? '') === (began ?? '') ? {} : { value: now, began }),
    [key],
  )
  return {
    found,
    keep,
    /** Keeps a text that may not be a complete value yet. */
    keepText: (text: string, began: Value) => keepFields(key, { value: began, began, text }),
    discard() {
      keepFields(key, {})
      setFound(null)
    },
  }
}
