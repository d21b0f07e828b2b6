import { useEffect, useRef } from 'react'
import { showProblem } from '../app/problems.tsx'
import { useTexts } from '../texts/texts.ts'

type Lost = { value: unknown; error: unknown; why: string }

/**
 * Reports a value that could not be saved (`lose`) when its field unmounts, unless `keep` was called since.
 * `written` is an unsaved draft, which is reported too.
 */
export function useUnsaved(label: string, written?: unknown) {
  const t = useTexts()
  const lost = useRef<Lost | null>(null)
  const gone = useRef(false)
  const reportLost = useRef(() => {})
  reportLost.current = () => {
    const unsaved = { value: written, error: null, why: t.app.field_gone }
    const unreported = lost.current ?? (written === undefined ? null : unsaved)
    if (!unreported) return
    const { value, error, why } = unreported
    lost.current = null
    showProblem(error, t, t.app.not_saved({ label, value: String(value ?? '–'), why }))
  }
  useEffect(() => {
    gone.current = false
    return () => {
      gone.current = true
      reportLost.current()
    }
  }, [])
  return {
    lose(value: unknown, error: unknown, why: string) {
      lost.current = { value, error, why }
      // The field had already unmounted when the answer came.
      if (gone.current) reportLost.current()
    },
    keep() {
      lost.current = null
    },
  }
}
