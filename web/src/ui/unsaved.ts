import { useEffect, useRef } from 'react'
import { tellProblem } from '../app/problems.tsx'
import { useTexts } from '../texts/texts.ts'

type Lost = { value: unknown; error: unknown; why: string }

/**
 * Keeps what a field could not save (`lose`), and tells it when the field goes away with it; `keep` when that is mended.
 * `written`: what is written and nobody has tried to save yet, which goes with the field too.
 */
export function useUnsaved(label: string, written?: unknown) {
  const t = useTexts()
  const lost = useRef<Lost | null>(null)
  const gone = useRef(false)
  const tellLost = useRef(() => {})
  tellLost.current = () => {
    const unsaved = { value: written, error: null, why: t.app.field_gone }
    const told = lost.current ?? (written === undefined ? null : unsaved)
    if (!told) return
    const { value, error, why } = told
    lost.current = null
    tellProblem(error, t, t.app.not_saved(label, String(value ?? '–'), why))
  }
  useEffect(() => {
    gone.current = false
    return () => {
      gone.current = true
      tellLost.current()
    }
  }, [])
  return {
    lose(value: unknown, error: unknown, why: string) {
      lost.current = { value, error, why }
      // The answer came when the field was gone already.
      if (gone.current) tellLost.current()
    },
    keep() {
      lost.current = null
    },
  }
}
