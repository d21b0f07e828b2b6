import { useQuery } from '@tanstack/react-query'
import { api, dataOf, type Schemas } from '../api/client.ts'
import { useFormats } from '../app/formats.ts'
import { useMay } from '../app/session.ts'

export type Outcomes = Schemas['OutcomesReport']

/** Sums of deals by stage. */
export function usePipelineReport() {
  const enabled = useMay()('reports:read')
  return useQuery({
    queryKey: ['reports', 'pipeline'],
    queryFn: ({ signal }) => dataOf(api.GET('/api/v1/reports/pipeline', { signal })),
    enabled,
  })
}

/** Won and lost deals of the last twelve months, in the person's time zone. */
export function useOutcomes() {
  const { zone: time_zone } = useFormats()
  const enabled = useMay()('reports:read')
  return useQuery({
    queryKey: ['reports', 'outcomes', time_zone],
    queryFn: ({ signal }) =>
      dataOf(api.GET('/api/v1/reports/outcomes', { signal, params: { query: { months: 12, time_zone } } })),
    enabled,
  })
}
