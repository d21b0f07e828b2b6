import { useQuery } from '@tanstack/react-query'
import { api, dataOf } from '../api/client.ts'

/** The events with the schemas and examples of their payloads. They change only with the version. */
export function useEventTypes() {
  return useQuery({
    queryKey: ['event-types'],
    queryFn: ({ signal }) => dataOf(api.GET('/api/v1/event-types', { signal })),
    staleTime: Number.POSITIVE_INFINITY,
  })
}
