import { keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query'
import { type Aborted, answerOf, api, dataOf } from '../api/client.ts'
import type { QueryOf } from '../api/record-api.ts'
import { browser_zone } from '../app/formats.ts'
import { sessionQuery } from '../app/session.ts'
import { todayIn } from '../app/zones.ts'
import { listDeals } from '../deals/deals.ts'
import {
  dealsToMove,
  latestEvents,
  nextAppointments,
  one_row,
  outcomes,
  pipeline,
  requested,
  standing_still,
  taskCounts,
  tasks,
  without_step,
} from './requests.ts'

const countOf = (name: string, ask: (by: Aborted) => Promise<{ meta: object }>) =>
  queryOptions({
    queryKey: [name, 'count'],
    queryFn: async ({ signal }) => ((await ask({ signal })).meta as { total: number }).total,
  })
export const contactCountQuery = countOf('contacts', (by) =>
  answerOf(api.GET('/api/v1/contacts', { params: { query: one_row }, ...by })),
)
export const dealCountQuery = countOf('deals', (by) =>
  answerOf(api.GET('/api/v1/deals', { params: { query: one_row }, ...by })),
)
export const webhookCountQuery = countOf('webhooks', (by) =>
  answerOf(api.GET('/api/v1/webhooks', { params: { query: one_row }, ...by })),
)

export const bookingPageCountQuery = countOf('booking_pages', (by) =>
  answerOf(api.GET('/api/v1/booking-pages', { params: { query: one_row }, ...by })),
)

export const invitationCountQuery = countOf('members', (by) =>
  answerOf(api.GET('/api/v1/invitations', { params: { query: one_row }, ...by })),
)

/** The person's activities that are overdue or due today, a day of the zone. */
export const tasksQuery = (today: string, zone: string) =>
  queryOptions({
    queryKey: ['activities', 'home', today, zone],
    queryFn: ({ signal }) => {
      const [path, query] = tasks(today, zone)
      return answerOf(api.GET(path, { params: { query }, signal }))
    },
    placeholderData: keepPreviousData,
  })

/** The numbers of the person's activities by when they are due. */
export const taskCountsQuery = (time_zone: string) =>
  queryOptions({
    queryKey: ['reports', 'activities', time_zone],
    queryFn: ({ signal }) => {
      const [path, query] = taskCounts(time_zone)
      return dataOf(api.GET(path, { params: { query }, signal }))
    },
  })

/** The person's appointments that run now or come next. */
export const nextAppointmentsQuery = queryOptions({
  queryKey: ['appointments', 'next'],
  queryFn: ({ signal }) => {
    const [path, query] = nextAppointments()
    return dataOf(api.GET(path, { params: { query }, signal }))
  },
})

/** The number of requested appointments. */
export const requestsQuery = queryOptions({
  queryKey: ['appointments', 'requests'],
  queryFn: async ({ signal }) => {
    const [path, query] = requested
    const { meta } = await answerOf(api.GET(path, { params: { query }, signal }))
    return meta.total ?? 0
  },
})

/** The person's open deals that the filter selects. */
export const dealsToMoveQuery = (filter: QueryOf<'deals'>) =>
  queryOptions({
    queryKey: ['deals', 'home', filter],
    queryFn: ({ signal }) => listDeals(dealsToMove(filter)[1], signal),
    placeholderData: keepPreviousData,
  })

/** Sums of deals by stage. */
export const pipelineQuery = queryOptions({
  queryKey: ['reports', 'pipeline'],
  queryFn: ({ signal }) => dataOf(api.GET(pipeline[0], { signal })),
})

/** Won and lost deals of the last twelve months, in a time zone. */
export const outcomesQuery = (time_zone: string) =>
  queryOptions({
    queryKey: ['reports', 'outcomes', time_zone],
    queryFn: ({ signal }) => {
      const [path, query] = outcomes(time_zone)
      return dataOf(api.GET(path, { params: { query }, signal }))
    },
  })

export const latestEventsQuery = queryOptions({
  queryKey: ['events', 'latest'],
  queryFn: ({ signal }) => {
    const [path, query] = latestEvents
    return dataOf(api.GET(path, { params: { query }, signal }))
  },
})

/**
 * Asks for what Home shows, so that it is drawn once, with its data. `top` resolves when the upper cards have theirs, and `figures`
 * when the key figures have theirs, which may take longer. The page itself reports failures.
 */
export function readHome(client: QueryClient): { top: Promise<unknown>; figures: Promise<unknown> } | null {
  const session = client.getQueryData(sessionQuery.queryKey)
  if (!session) return null
  const zone = session.user.time_zone ?? browser_zone
  const may = (scope: string) => session.scopes.includes(scope)
  const top = Promise.all([
    may('contacts:read') && client.prefetchQuery(contactCountQuery),
    may('deals:read') && client.prefetchQuery(dealCountQuery),
    may('activities:read') && client.prefetchQuery(tasksQuery(todayIn(zone), zone)),
    may('appointments:read') && client.prefetchQuery(nextAppointmentsQuery),
    may('appointments:read') && client.prefetchQuery(requestsQuery),
    may('deals:read') && client.prefetchQuery(dealsToMoveQuery(without_step)),
    may('deals:read') && client.prefetchQuery(dealsToMoveQuery(standing_still)),
  ])
  const figures = Promise.all(
    may('reports:read')
      ? [
          client.prefetchQuery(taskCountsQuery(zone)),
          client.prefetchQuery(pipelineQuery),
          client.prefetchQuery(outcomesQuery(zone)),
        ]
      : [],
  )
  if (may('events:read')) client.prefetchQuery(latestEventsQuery)
  return { top, figures }
}
