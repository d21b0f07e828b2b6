import { keepPreviousData, useQueries } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { api, dataOf } from '../api/client.ts'
import { matching } from './matching.ts'
import { useMay } from './session.ts'

type FoundRecord = { path: string; name: string; detail?: string | null }

const typing_ms = 120
const per_page = 5

const searches = [
  {
    kind: 'contacts',
    search: async (search: string): Promise<FoundRecord[]> =>
      (await dataOf(api.GET('/api/v1/contacts', { params: { query: { search, per_page } } }))).map(
        ({ id, first_name, last_name, company, email }) => ({
          path: `/contacts/${id}`,
          name: `${first_name} ${last_name}`,
          detail: company?.name ?? email,
        }),
      ),
  },
  {
    kind: 'companies',
    search: async (search: string): Promise<FoundRecord[]> =>
      (await dataOf(api.GET('/api/v1/companies', { params: { query: { search, per_page } } }))).map(
        ({ id, name, industry }) => ({ path: `/companies/${id}`, name, detail: industry }),
      ),
  },
  {
    kind: 'deals',
    search: async (search: string): Promise<FoundRecord[]> =>
      (await dataOf(api.GET('/api/v1/deals', { params: { query: { search, per_page } } }))).map(
        ({ id, name, stage }) => ({ path: `/deals/${id}`, name, detail: stage }),
      ),
  },
] as const
export type RecordKind = (typeof searches)[number]['kind']

const fits = (text: string, { name, detail }: FoundRecord) =>
  matching(text, [{ name: `${name} ${detail ?? ''}` }]).length > 0

/** The records that a text finds, by kind, a moment after it was typed. `searching` until the answers are those of the text. */
export function useRecordSearch(text: string) {
  const may = useMay()
  const [asked, setAsked] = useState('')
  const wanted = text.trim()
  useEffect(() => {
    const timer = setTimeout(() => setAsked(wanted), typing_ms)
    return () => clearTimeout(timer)
  }, [wanted])
  const answers = useQueries({
    queries: searches.map(({ kind, search }) => ({
      queryKey: [kind, 'palette', asked],
      queryFn: () => search(asked),
      enabled: asked !== '' && may(`${kind}:read`),
      placeholderData: keepPreviousData,
    })),
  })
  const shown = wanted === '' ? [] : searches
  const groups = shown.map(({ kind }, index) => {
    const { data = [], isPlaceholderData } = answers[index] ?? {}
    // What an earlier text found counts only as far as it fits this one.
    const earlier = wanted !== asked || isPlaceholderData
    return { kind, records: earlier ? data.filter((one) => fits(wanted, one)) : data }
  })
  const failed = answers.find(({ error }) => error)?.error
  const searching = wanted !== asked || answers.some(({ isFetching }) => isFetching)
  return { groups, searching, failed }
}
