import { keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query'
import { type Aborted, answerOf, api, dataOf } from '../api/client.ts'
import type { QueryOf } from '../api/record-api.ts'
import { browser_zone } from '../app/formats.ts'
import { sessionQuery } from '../app/session.ts'
import { endOfDay, wallOf } from '../app/zones.ts'
import { listDeals } from '../deals/deals.ts'
import { lastStaleDay } from '../deals/staleness.ts'
import { mine } from './mine.ts'

const at_once = 6

const one_row = { params: { query: { per_page: 1 } } }
const countOf = (name: string, ask: (by: Aborted) => Promise<{ meta: object }>) =>
  queryOptions({
    queryKey: [name, 'count'],
    queryFn: async ({ signal }) => ((await ask({ signal })).meta as { total: number }).total,
  })
export const contactCountQuery = countOf('contacts', (by) =>
  answerOf(api.GET('/api/v1/contacts', { ...one_row, ...by })),
)
export const dealCountQuery = countOf('deals', (by) =>
  answerOf(api.GET('/api/v1/deals', { ...one_row, ...by })),
)
export const webhookCountQuery = countOf('webhooks', (by) =>
  answerOf(api.GET('/api/v1/webhooks', { ...one_row, ...by })),
)

/** The person's activities that are overdue or due today, a day of the zone. */
export const tasksQuery = (today: string, zone: string) =>
  queryOptions({
    queryKey: ['activities', 'home', today, zone],
    queryFn: ({ signal }) => {
      const query = {
        ...({ status: 'open', due_to: endOfDay(today, zone), owner_id: mine } as const),
        ...({ details: 'true', sort: 'due_at', per_page: at_once } as const),
      }
      return answerOf(api.GET('/api/v1/activities', { params: { query }, signal }))
    },
    placeholderData: keepPreviousData,
  })

/** The numbers of the person's activities by when they are due. */
export const taskCountsQuery = (time_zone: string) =>
  queryOptions({
    queryKey: ['reports', 'activities', time_zone],
    queryFn: ({ signal }) => {
      const query = { time_zone, owner_id: mine }
      return dataOf(api.GET('/api/v1/reports/activities', { signal, params: { query } }))
    },
  })

/** The person's next appointments. */
export const nextAppointmentsQuery = queryOptions({
  queryKey: ['appointments', 'next'],
  queryFn: ({ signal }) => {
    const query = {
      ...({ status: 'scheduled', owner_id: mine, details: 'true' } as const),
      ...({ start_from: new Date().toISOString(), sort: 'start_at', per_page: at_once } as const),
    }
    return dataOf(api.GET('/api/v1/appointments', { params: { query }, signal }))
  },
})

/** The number of requested appointments. */
export const requestsQuery = queryOptions({
  queryKey: ['appointments', 'requests'],
  queryFn: async ({ signal }) => {
    const query = { status: 'requested', per_page: 1 } as const
    const { meta } = await answerOf(api.GET('/api/v1/appointments', { params: { query }, signal }))
    return meta.total ?? 0
  },
})

export const open_of_mine = { status: 'open', owner_id: mine, sort: '-value,name' } as const
export const without_step: QueryOf<'deals'> = { next_activity: 'null' }
export const standingStill = (): QueryOf<'deals'> => ({ stage_since_to: lastStaleDay(Date.now()) })

/** The person's open deals that the filter selects. */
export const dealsToMoveQuery = (filter: QueryOf<'deals'>) =>
  queryOptions({
    queryKey: ['deals', 'home', filter],
    // A cursor spares the count, which would test every open deal.
    queryFn: ({ signal }) => listDeals({ ...open_of_mine, ...filter, per_page: at_once, cursor: '' }, signal),
    placeholderData: keepPreviousData,
  })

/** Sums of deals by stage. */
export const pipelineQuery = queryOptions({
  queryKey: ['reports', 'pipeline'],
  queryFn: ({ signal }) => dataOf(api.GET('/api/v1/reports/pipeline', { signal })),
})

/** Won and lost deals of the last twelve months, in a time zone. */
export const outcomesQuery = (time_zone: string) =>
  queryOptions({
    queryKey: ['reports', 'outcomes', time_zone],
    queryFn: ({ signal }) =>
      dataOf(api.GET('/api/v1/reports/outcomes', { signal, params: { query: { months: 12, time_zone } } })),
  })

export const latestEventsQuery = queryOptions({
  queryKey: ['events', 'latest'],
  queryFn: ({ signal }) =>
    dataOf(api.GET('/api/v1/events', { signal, params: { query: { sort: '-timestamp', per_page: 8 } } })),
})

/**
 * Reads what Home shows at its top, so that it is drawn once, with its data. What is below may take longer: it is asked for,
 * but not awaited.
 */
export async function readHome(client: QueryClient): Promise<void> {
  const session = client.getQueryData(sessionQuery.queryKey)
  if (!session) return
  const zone = session.user.time_zone ?? browser_zone
  const today = wallOf(new Date().toISOString(), zone).slice(0, 10)
  const may = (scope: string) => session.scopes.includes(scope)
  const top = [
    may('contacts:read') && client.prefetchQuery(contactCountQuery),
    may('deals:read') && client.prefetchQuery(dealCountQuery),
    may('activities:read') && client.prefetchQuery(tasksQuery(today, zone)),
    may('appointments:read') && client.prefetchQuery(nextAppointmentsQuery),
    may('appointments:read') && client.prefetchQuery(requestsQuery),
    may('deals:read') && client.prefetchQuery(dealsToMoveQuery(without_step)),
    may('deals:read') && client.prefetchQuery(dealsToMoveQuery(standingStill())),
  ]
  if (may('reports:read')) {
    client.prefetchQuery(taskCountsQuery(zone))
    client.prefetchQuery(pipelineQuery)
    client.prefetchQuery(outcomesQuery(zone))
  }
  if (may('events:read')) client.prefetchQuery(latestEventsQuery)
  await Promise.all(top)
}
