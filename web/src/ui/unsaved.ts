import { useEffect, useRef } from 'react'
import { tellProblem } from '../app/problems.tsx'
import { useTexts } from '../texts/texts.ts'

type Lost = { value: unknown; error: unknown; why: string }

/** Keeps what a field could not save (`lose`), and tells it when the field goes away with it; `keep` when that is mended. */
export function useUnsaved(label: string) {
  const t = useTexts()
  const lost = useRef<Lost | null>(null)
  const gone = useRef(false)
  const tellLost = useRef(() => {})
  tellLost.current = () => {
    if (!lost.current) return
    const { value, error, why } = lost.current
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
