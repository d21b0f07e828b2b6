import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { answerOf, api, dataOf } from '../api/client.ts'
import type { paths } from '../api/schema'
import { showProblem } from '../app/problems.tsx'
import { useTexts } from '../texts/with-settings.ts'
import { type Log, release, takeChanges, takeIn, takeOlder } from './log.ts'

export type LogFilters = Pick<
  NonNullable<paths['/api/v1/deliveries']['get']['parameters']['query']>,
  'webhook_id' | 'event' | 'event_id' | 'kind' | 'record_id' | 'status' | 'status_code' | 'from' | 'to'
>

const per_page = 50
const often_ms = 2000
// Rows that are not on the newest page are read one by one while they are retried.
const most_watched = 10

const pageOf = (filters: LogFilters, cursor: string, signal?: AbortSignal) =>
  answerOf(
    api.GET('/api/v1/deliveries', {
      params: { query: { ...filters, per_page, cursor, details: 'true' } },
      signal,
    }),
  )

/**
 * The live delivery log: polls every two seconds while the page is visible, and on live updates. `held`
 * keeps new rows back, so that rows do not move under the reader. One set of filters has one log: use the
 * filters as the `key` of the component.
 */
export function useLiveLog(filters: LogFilters, held: boolean) {
  const t = useTexts()
  const [log, setLog] = useState<Log | null>(null)
  const [loading_older, setLoadingOlder] = useState(false)
  const top = useQuery({
    queryKey: ['deliveries', 'list', filters],
    queryFn: ({ signal }) => pageOf(filters, 'start', signal),
    refetchInterval: often_ms,
  })
  const total = useQuery({
    queryKey: ['deliveries', 'total', filters],
    queryFn: ({ signal }) =>
      answerOf(api.GET('/api/v1/deliveries', { signal, params: { query: { ...filters, per_page: 1 } } })),
    refetchInterval: 5 * often_ms,
  })
  const { data } = top
  // biome-ignore lint/correctness/useExhaustiveDependencies: each answer is taken in once, as things are then
  useEffect(() => {
    if (data) setLog((before) => takeIn(before, data.data, data.meta.next_cursor ?? null, held))
  }, [data])
  useEffect(() => {
    if (!held) setLog((before) => (before?.fresh.length ? release(before) : before))
  }, [held])

  const in_top = new Set(data?.data.map(({ id }) => id))
  const soon_ms = Date.now() + often_ms
  const watched = (log?.rows ?? [])
    .filter(({ id, status }) => status === 'pending' && !in_top.has(id))
    .filter(({ next_attempt_at }) => !next_attempt_at || Date.parse(next_attempt_at) < soon_ms)
    .slice(0, most_watched)
    .map(({ id }) => id)
  const { data: changed } = useQuery({
    queryKey: ['deliveries', 'watched', watched],
    queryFn: ({ signal }) =>
      Promise.all(
        watched.map(async (delivery_id) => {
          const params = { path: { delivery_id } }
          const delivery = await dataOf(api.GET('/api/v1/deliveries/{delivery_id}', { params, signal }))
          return { ...delivery, last_duration_ms: delivery.attempts.at(-1)?.duration_ms ?? null }
        }),
      ),
    enabled: watched.length > 0,
    refetchInterval: often_ms,
  })
  useEffect(() => {
    if (changed) setLog((before) => before && takeChanges(before, changed))
  }, [changed])

  return {
    rows: log?.rows,
    fresh: log?.fresh.length ?? 0,
    gap: log?.gap ?? false,
    more: Boolean(log?.next),
    total: total.data?.meta.total,
    /** The error of the latest poll: the log is not live then. */
    error: top.error,
    retry: top.refetch,
    loading_older,
    showFresh: () => setLog((before) => before && release(before)),
    async loadOlder() {
      if (!log?.next) return
      setLoadingOlder(true)
      try {
        const { data, meta } = await pageOf(filters, log.next)
        setLog((before) => before && takeOlder(before, data, meta.next_cursor ?? null))
      } catch (error) {
        showProblem(error, t)
      } finally {
        setLoadingOlder(false)
      }
    },
  }
}
