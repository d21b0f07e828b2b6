import { queryOptions } from '@tanstack/react-query'
import type { Aborted } from '../api/client.ts'
import type { QueryOf } from '../api/record-api.ts'
import { addDays, endOfDay, startOfDay } from '../app/zones.ts'
import { activitiesApi } from './kind.tsx'

export const shows = ['today', 'overdue', 'upcoming', 'done', 'all'] as const
export type Show = (typeof shows)[number]

/**
 * The query of each switch. Days begin and end in the person's time zone. The long names, because a filter by
 * the due date has the short ones, and the API takes what both ranges share.
 */
const asks: Record<Show, (today: string, zone: string) => object> = {
  today: (day, zone) => ({
    status: 'open',
    due_at_from: startOfDay(day, zone),
    due_at_to: endOfDay(day, zone),
  }),
  overdue: () => ({ status: 'overdue' }),
  upcoming: (day, zone) => ({ status: 'open', due_at_from: startOfDay(addDays(day, 1), zone) }),
  done: () => ({ status: 'completed' }),
  all: () => ({}),
}
/** The default order of each switch. */
export const orders: Record<Show, string> = {
  today: 'due_at',
  overdue: 'due_at',
  upcoming: 'due_at',
  done: '-updated_at',
  all: '-created_at',
}

type Asked = {
  show: Show
  zone: string
  today: string
  filters: Record<string, string>
  sort: string
  page: number
}

/** The filters and the order of a switch, for the API. */
export const queryOf = ({ show, today, zone, filters, sort }: Asked) => ({
  ...asks[show](today, zone),
  ...filters,
  sort,
})

/** A page of a switch. The day is part of the key, because the list changes at midnight. */
export const activitiesQuery = (asked: Asked) => ({
  queryKey: ['activities', 'list', asked],
  queryFn: (by: Aborted) => readActivities(asked, { page: asked.page, per_page: 50 }, by),
})

/** Reads some activities of a switch. */
export function readActivities(asked: Asked, place: object, { signal }: Aborted) {
  const query = { ...queryOf(asked), ...place, details: 'true' }
  return activitiesApi.list(query as QueryOf<'activities'>, signal)
}

/** The number of overdue activities, or of those of an owner, for the switch. */
export const overdueQuery = (owner_id = '') =>
  queryOptions({
    queryKey: ['activities', 'overdue', owner_id],
    queryFn: ({ signal }) =>
      activitiesApi.list({ status: 'overdue', per_page: 1, ...(owner_id && { owner_id }) }, signal),
  })
