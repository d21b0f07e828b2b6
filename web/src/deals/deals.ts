import { queryOptions } from '@tanstack/react-query'
import { answerOf, api, dataOf, type Schemas } from '../api/client.ts'
import type { paths } from '../api/schema'
import { default_probabilities, isOpen, type Stage } from './stages.ts'

export type Deal = Schemas['Deal']

/** What a change of a deal makes old. */
export const touched = ['deals', 'reports', 'timeline', 'trash'] as const

const at = (id: number) => ({ params: { path: { id } } })

type DealsQuery = NonNullable<paths['/api/v1/deals']['get']['parameters']['query']>

/** A page of deals, each with all its fields. */
export async function listDeals(query: DealsQuery, signal?: AbortSignal) {
  const params = { query: { ...query, details: 'true' as const } }
  const { data, meta } = await answerOf(api.GET('/api/v1/deals', { params, ...(signal && { signal }) }))
  return { data: data as Deal[], meta }
}

export const dealsQuery = (query: DealsQuery) => ({
  queryKey: ['deals', 'list', query],
  queryFn: () => listDeals(query),
})

export const dealQuery = (id: number) =>
  queryOptions({
    queryKey: ['deals', 'record', id],
    queryFn: () => dataOf(api.GET('/api/v1/deals/{id}', at(id))),
  })

export type DealChanges = Partial<
  Pick<Deal, 'name' | 'value' | 'contact_id' | 'company_id' | 'expected_close_date'> &
    Pick<Deal, 'priority' | 'source' | 'lost_reason'> & { probability: number | null }
>

export const changeDeal = (id: number, body: DealChanges): Promise<Deal> =>
  dataOf(api.PATCH('/api/v1/deals/{id}', { ...at(id), body }))

export const deleteDeal = (id: number) => answerOf(api.DELETE('/api/v1/deals/{id}', at(id)))
export const restoreDeal = (id: number) =>
  dataOf(api.POST('/api/v1/deals/{id}/restore', { ...at(id), body: {} }))

type StageChange = { stage: Stage; probability?: number; lost_reason?: string | null }

const changeStage = (id: number, body: StageChange): Promise<Deal> =>
  dataOf(api.POST('/api/v1/deals/{id}/change-stage', { ...at(id), body }))

type Moved = { deal: Deal; back: () => Promise<Deal> }

/**
 * Moves a deal to another stage; lost needs a reason. `back` takes it back to the stage before, with the reason and the
 * probability that it had there.
 */
export async function moveDeal(
  deal: Pick<Deal, 'id' | 'stage' | 'probability'>,
  stage: Stage,
  lost_reason?: string,
): Promise<Moved> {
  const { id, stage: before, probability } = deal
  const return_to: StageChange = { stage: before }
  if (before === 'lost')
    return_to.lost_reason = (await dataOf(api.GET('/api/v1/deals/{id}', at(id)))).lost_reason
  // An open deal keeps its own probability by itself while it is closed; a closed one does not.
  if (!isOpen(before) && probability !== default_probabilities[before]) return_to.probability = probability
  const moved = await changeStage(id, { stage, ...(lost_reason && { lost_reason }) })
  return { deal: moved, back: () => changeStage(id, return_to) }
}
