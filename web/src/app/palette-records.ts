import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { api, dataOf } from '../api/client.ts'
import { all_kinds } from '../kinds.ts'
import { isListed } from '../record/kinds.ts'
import { exactly } from './matching.ts'
import { useMay } from './session.ts'

const typing_ms = 120
const most_of_kind = 5
const searched = all_kinds.filter(isListed)

/**
 * The records that match a text, by kind, 120 ms after the last key. `searching` until the answer belongs to
 * the text.
 */
export function useRecordSearch(text: string) {
  const may = useMay()
  const [asked, setAsked] = useState('')
  const wanted = text.trim()
  useEffect(() => {
    const timer = setTimeout(() => setAsked(wanted), typing_ms)
    return () => clearTimeout(timer)
  }, [wanted])
  const { data, error, isFetching, isPlaceholderData } = useQuery({
    queryKey: ['search', asked],
    queryFn: ({ signal }) => dataOf(api.GET('/api/v1/search', { params: { query: { q: asked } }, signal })),
    enabled: asked !== '' && searched.some(({ kind }) => may(`${kind}:read`)),
    placeholderData: keepPreviousData,
    // A record that was just created is found.
    staleTime: 0,
  })
  // Results of an earlier text count only if they match this one.
  const earlier = wanted !== asked || isPlaceholderData
  const fits = ({ title, subtitle }: { title: string; subtitle: string | null }) =>
    exactly(wanted, [{ name: `${title} ${subtitle ?? ''}` }]).length > 0
  const found = wanted === '' ? [] : (data ?? []).filter((one) => !earlier || fits(one))
  const groups = searched.map((kind) => ({
    kind,
    records: found.filter((one) => one.kind === kind.kind).slice(0, most_of_kind),
  }))
  return {
    groups,
    searching: wanted !== asked || isFetching,
    failed: error,
  }
}
