import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { api, dataOf } from '../api/client.ts'
import type { Days } from './periods.ts'

// Changes of deals and activities make all reports stale.

type Asked = { time_zone: string; owner_id?: string }

export const useFunnel = (days: Days, asked: Asked, enabled: boolean) =>
  useQuery({
    queryKey: ['reports', 'funnel', days, asked],
    queryFn: ({ signal }) =>
      dataOf(api.GET('/api/v1/reports/funnel', { params: { query: { ...days, ...asked } }, signal })),
    placeholderData: keepPreviousData,
    enabled,
  })

/** The months before the present one, whose won deals a forecast has. */
export const months_before = 2

export const useForecast = (months_after: number, asked: Asked, enabled: boolean) =>
  useQuery({
    queryKey: ['reports', 'forecast', months_after, asked],
    queryFn: ({ signal }) =>
      dataOf(
        api.GET('/api/v1/reports/forecast', {
          params: { query: { months_before, months_after, ...asked } },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
    enabled,
  })

export const usePeople = (days: Days, asked: Asked, enabled: boolean) =>
  useQuery({
    queryKey: ['reports', 'people', days, asked],
    queryFn: ({ signal }) =>
      dataOf(api.GET('/api/v1/reports/people', { params: { query: { ...days, ...asked } }, signal })),
    placeholderData: keepPreviousData,
    enabled,
  })
