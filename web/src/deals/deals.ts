import { api, dataOf, type Schemas } from '../api/client.ts'
import type { QueryOf, RecordKind } from '../api/record-api.ts'
import { dealsApi } from './kind.tsx'
import { default_probabilities, isOpen, type Stage } from './stages.ts'

/** A deal; from a list, with its next step and the time since which it is in its stage. */
export type Deal = Schemas['Deal'] & Pick<Schemas['DealOfList'], 'next_activity' | 'stage_since'>

/** The filters of both board and table. */
export const references: [string, RecordKind][] = [
  ['company_id', 'companies'],
  ['contact_id', 'contacts'],
]

/** A page of deals, each with all its fields and its progress. */
export async function listDeals(query: QueryOf<'deals'>, signal?: AbortSignal) {
  const { data, meta } = await dealsApi.list({ ...query, progress: 'true' }, signal)
  return { data: data as Deal[], meta }
}

export const dealsQuery = (query: QueryOf<'deals'>) => ({
  queryKey: ['deals', 'list', query],
  queryFn: () => listDeals(query),
})

type StageChange = { stage: Stage; probability?: number; lost_reason?: string | null }

const changeStage = (id: number, body: StageChange): Promise<Deal> =>
  dataOf(api.POST('/api/v1/deals/{id}/change-stage', { params: { path: { id } }, body }))

type Moved = { deal: Deal; back: () => Promise<Deal> }

/**
 * Moves a deal to another stage; a loss needs a reason. `back` restores the previous stage, reason and
 * probability.
 */
export async function moveDeal(
  deal: Pick<Deal, 'id' | 'stage' | 'probability'>,
  stage: Stage,
  lost_reason?: string,
): Promise<Moved> {
  const { id, stage: before, probability } = deal
  const return_to: StageChange = { stage: before }
  if (before === 'lost') return_to.lost_reason = (await dealsApi.read(id)).lost_reason
  // The service keeps the probability of an open deal while it is closed, but not that of a closed deal.
  if (!isOpen(before) && probability !== default_probabilities[before]) return_to.probability = probability
  const moved = await changeStage(id, { stage, ...(lost_reason && { lost_reason }) })
  return { deal: moved, back: () => changeStage(id, return_to) }
}
