import { useQuery } from '@tanstack/react-query'
import type { Schemas } from '../api/client.ts'
import { useFormats } from '../app/formats.ts'
import { useMay } from '../app/session.ts'
import { outcomesQuery, pipelineQuery } from './queries.ts'

export type Outcomes = Schemas['OutcomesReport']

export const usePipelineReport = () => useQuery({ ...pipelineQuery, enabled: useMay()('reports:read') })

export function useOutcomes() {
  const { zone } = useFormats()
  return useQuery({ ...outcomesQuery(zone), enabled: useMay()('reports:read') })
}
