import { undecided } from '../api/change-since.ts'
import { type Aborted, api, dataOf, type Schemas } from '../api/client.ts'
import { isStale, matching, type QueryOf, type RecordKind } from '../api/record-api.ts'
import { askWhose } from '../record/page/conflicts.ts'
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
  queryFn: ({ signal }: Aborted) => listDeals(query, signal),
})

type StageChange = { stage: Stage; probability?: number; lost_reason?: string | null }

const changeStage = (id: number, body: StageChange, etag?: string): Promise<Deal> =>
  dataOf(
    api.POST('/api/v1/deals/{id}/change-stage', {
      params: { path: { id }, header: matching(etag) as object },
      body,
    }),
  )

// Somebody may change the deal again before the person has chosen.
const most_tries = 5

/**
 * Changes the stage of a deal that the person saw in one of the stages of `seen`. If somebody else has moved it to
 * another one, the person chooses. Resolves to the stored deal.
 */
async function changeStageSince(id: number, body: StageChange, seen: readonly Stage[]): Promise<Deal> {
  const known = [...seen, body.stage]
  for (let tries = 1; ; tries++) {
    const record = await dealsApi.read(id)
    const { stage } = record
    if (!known.includes(stage)) {
      const clashes = [{ field: 'stage', theirs: stage, mine: body.stage }]
      const choice = await askWhose({ kind: 'deals', record, clashes })
      if (choice === null) throw undecided()
      if (choice === 'theirs') return record
      known.push(stage)
    }
    try {
      return await changeStage(id, body, record.etag)
    } catch (error) {
      if (!isStale(error) || tries === most_tries) throw error
    }
  }
}

type Moved = { deal: Deal; back: () => Promise<Deal> }

/**
 * Moves a deal to another stage; a loss needs a reason. `back` restores the previous stage, reason and
 * probability. `seen`: the stages in which the person saw it; left out for many deals, which nobody is asked about.
 */
export async function moveDeal(
  deal: Pick<Deal, 'id' | 'stage' | 'probability'>,
  stage: Stage,
  lost_reason?: string,
  seen?: readonly Stage[],
): Promise<Moved> {
  const { id, stage: before, probability } = deal
  const return_to: StageChange = { stage: before }
  if (before === 'lost') return_to.lost_reason = (await dealsApi.read(id)).lost_reason
  // The service keeps the probability of an open deal while it is closed, but not that of a closed deal.
  if (!isOpen(before) && probability !== default_probabilities[before]) return_to.probability = probability
  const change = (body: StageChange, from?: readonly Stage[]) =>
    from ? changeStageSince(id, body, from) : changeStage(id, body)
  const moved = await change({ stage, ...(lost_reason && { lost_reason }) }, seen)
  return { deal: moved, back: () => change(return_to, seen && [stage]) }
}
