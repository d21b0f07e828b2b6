import { keepPreviousData, useQueries } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { all_kinds } from '../kinds.ts'
import { useTexts } from '../texts/texts.ts'
import type { Choice } from '../ui/reference.tsx'
import { matching } from './matching.ts'
import { useMay } from './session.ts'

const typing_ms = 120
const per_page = 5
const searched = all_kinds.filter(({ palette }) => palette)

const fits = (text: string, { name, detail }: Choice) =>
  matching(text, [{ name: `${name} ${detail ?? ''}` }]).length > 0

/**
 * The records that match a text, by kind, 120 ms after the last key. `searching` until the answers belong
 * to the text.
 */
export function useRecordSearch(text: string) {
  const t = useTexts()
  const may = useMay()
  const [asked, setAsked] = useState('')
  const wanted = text.trim()
  useEffect(() => {
    const timer = setTimeout(() => setAsked(wanted), typing_ms)
    return () => clearTimeout(timer)
  }, [wanted])
  const answers = useQueries({
    queries: searched.map(({ kind, search }) => ({
      queryKey: [kind, 'palette', asked],
      queryFn: async () => (await search?.(asked, per_page, t)) ?? [],
      enabled: asked !== '' && may(`${kind}:read`),
      placeholderData: keepPreviousData,
    })),
  })
  const shown = wanted === '' ? [] : searched
  const groups = shown.map((kind, index) => {
    const { data = [], isPlaceholderData } = answers[index] ?? {}
    // Results of an earlier text count only if they match this one.
    const earlier = wanted !== asked || isPlaceholderData
    return { kind, records: earlier ? data.filter((one) => fits(wanted, one)) : data }
  })
  const failed = answers.find(({ error }) => error)?.error
  const searching = wanted !== asked || answers.some(({ isFetching }) => isFetching)
  return { groups, searching, failed }
}
