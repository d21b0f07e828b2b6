import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { api, dataOf, type Schemas } from '../api/client.ts'
import { all_kinds } from '../kinds.ts'
import type { Kind } from '../record/kinds.ts'
import { exactly } from './matching.ts'
import { phoneFilter } from './phone-filter.ts'
import { useMay } from './session.ts'

const typing_ms = 120
const most_of_kind = 5
const searched = all_kinds.filter(({ found }) => found)

type Found = Schemas['Found']

/** The records with a typed telephone number, which the search does not look at. */
async function foundByPhone(kinds: readonly Kind[], text: string, signal: AbortSignal): Promise<Found[]> {
  const phone = phoneFilter(text)
  if (!phone) return []
  const found = await Promise.all(
    kinds.map(async ({ kind, findByPhone }) =>
      ((await findByPhone?.(phone, most_of_kind, signal)) ?? []).map(({ id, name, detail }) => ({
        kind: kind as Found['kind'],
        id,
        title: name,
        subtitle: detail ?? null,
      })),
    ),
  )
  return found.flat()
}

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
    queryFn: async ({ signal }) => {
      const readable = searched.filter(({ kind }) => may(`${kind}:read`))
      let failed: unknown = null
      const [by_phone, by_text] = await Promise.all([
        // A failed lookup hides no results of the search.
        foundByPhone(readable, asked, signal).catch((error: unknown): Found[] => {
          failed = error
          return []
        }),
        dataOf(api.GET('/api/v1/search', { params: { query: { q: asked } }, signal })),
      ])
      const hasPhone = (one: Found) => by_phone.some(({ kind, id }) => kind === one.kind && id === one.id)
      return { found: [...by_phone, ...by_text.filter((one) => !hasPhone(one))], failed }
    },
    enabled: asked !== '' && searched.some(({ kind }) => may(`${kind}:read`)),
    placeholderData: keepPreviousData,
    // A record that was just created is found.
    staleTime: 0,
  })
  // Results of an earlier text count only if they match this one.
  const earlier = wanted !== asked || isPlaceholderData
  const fits = ({ title, subtitle }: { title: string; subtitle: string | null }) =>
    exactly(wanted, [{ name: `${title} ${subtitle ?? ''}` }]).length > 0
  const found = wanted === '' ? [] : (data?.found ?? []).filter((one) => !earlier || fits(one))
  const groups = searched.map((kind) => ({
    kind,
    records: found.filter((one) => one.kind === kind.kind).slice(0, most_of_kind),
  }))
  return {
    groups,
    searching: wanted !== asked || isFetching,
    failed: error ?? (earlier ? null : data?.failed),
  }
}
