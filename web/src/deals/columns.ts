import { keepPreviousData, type QueryClient, queryOptions, useQuery } from '@tanstack/react-query'
import { useRef } from 'react'
import { api, dataOf, type Schemas } from '../api/client.ts'
import { pagesQuery, usePages } from '../record/pages.ts'
import { type Deal, listDeals } from './deals.ts'
import { dealIn, type Move } from './moves.ts'
import { isOpen, type Stage, stages } from './stages.ts'

/** The orders of a column. */
export const board_orders = ['-updated_at', 'expected_close_date', '-value,name', 'name', '-id'] as const
export type BoardOrder = (typeof board_orders)[number]

/** The filters of the board, as in the address. */
export type BoardFilter = Record<string, string>

const per_page = 25

// Won and lost deals only grow in number.
const recently = { closed_at: 'last_30_days' } as const

const columnOf = (stage: Stage, sort: BoardOrder, filter: BoardFilter, all = isOpen(stage)) => ({
  queryKey: ['deals', 'board', stage, sort, filter, all],
  read: (cursor: string, _: number, signal: AbortSignal) =>
    listDeals({ stage, sort, per_page, cursor, ...filter, ...(!all && recently) }, signal),
})

const pipelineQuery = (filter: BoardFilter) =>
  queryOptions({
    queryKey: ['reports', 'pipeline', filter],
    queryFn: ({ signal }) =>
      dataOf(api.GET('/api/v1/reports/pipeline', { signal, params: { query: filter } })),
  })

/** Reads the board without filters before it is drawn, so that it is drawn once, with its cards. */
export function readBoard(client: QueryClient): Promise<unknown> {
  // The sums may take longer. They are asked for, but not awaited.
  client.prefetchQuery(pipelineQuery({}))
  return Promise.all(
    stages.map((stage) => client.prefetchInfiniteQuery(pagesQuery(columnOf(stage, board_orders[0], {})))),
  )
}

/** The last value, while `held`. */
function useHeld<T>(value: T, held: boolean): T {
  const shown = useRef(value)
  if (!held || shown.current === undefined) shown.current = value
  return shown.current
}

/**
 * The cards of a column, page by page: all, or those that closed recently. With cards that are moving in, without cards that
 * are moving out.
 */
export function useColumn(
  stage: Stage,
  sort: BoardOrder,
  filter: BoardFilter,
  moves: ReadonlyMap<number, Move>,
  held: boolean,
  all: boolean,
) {
  const query = usePages({ ...columnOf(stage, sort, filter, all), keeps: true })
  const data = useHeld(query.data, held)
  // A deal that moved between two reads can be on both pages.
  const deals = data && [
    ...new Map(data.pages.flatMap((page) => page.data).map((deal) => [deal.id, deal])).values(),
  ]
  return { ...query, deals: deals && withMoves(deals, stage, moves, sort, query.more) }
}

function withMoves(
  deals: Deal[],
  stage: Stage,
  moves: ReadonlyMap<number, Move>,
  sort: BoardOrder,
  more: boolean,
): Deal[] {
  if (!moves.size) return deals
  const shown = deals.filter(({ id }) => !moves.has(id) || moves.get(id)?.to === stage)
  for (const { deal, to } of moves.values()) {
    if (to !== stage || shown.some(({ id }) => id === deal.id)) continue
    const at = placeOf(deal, shown, sort)
    // After the last card that was read: the next page shows it.
    if (at === shown.length && more && at > 0) continue
    shown.splice(at, 0, dealIn(deal, stage))
  }
  return shown
}

/** The index of a deal in the order of the API if it had just been changed. */
export function placeOf(deal: Deal, deals: readonly Deal[], sort: BoardOrder): number {
  if (sort === '-updated_at') return 0
  const before: Record<Exclude<BoardOrder, '-updated_at'>, (other: Deal) => boolean> = {
    '-id': (other) => other.id > deal.id,
    name: (other) => other.name.localeCompare(deal.name) < 0,
    '-value,name': (other) => (other.value ?? -1) > (deal.value ?? -1),
    expected_close_date: (other) => (other.expected_close_date ?? 'z') < (deal.expected_close_date ?? 'z'),
  }
  const at = deals.findIndex((other) => !before[sort](other))
  return at < 0 ? deals.length : at
}

type Pipeline = Schemas['PipelineReport']

/** Count and sum of every column, including cards that are moving. */
export function usePipeline(filter: BoardFilter, moves: ReadonlyMap<number, Move>, held: boolean) {
  const query = useQuery({ ...pipelineQuery(filter), placeholderData: keepPreviousData })
  const report = useHeld(query.data, held)
  return { ...query, report: report && moved(report, moves) }
}

/** Count and sum of the won or lost deals that closed recently, including cards that are moving. */
export function useRecentlyClosed(
  stage: Stage,
  filter: BoardFilter,
  moves: ReadonlyMap<number, Move>,
  held: boolean,
) {
  const query = useQuery({
    queryKey: ['reports', 'closed', filter],
    queryFn: ({ signal }) => {
      const query = { by: 'stage', stage: 'won,lost', ...recently, ...filter } as const
      return dataOf(api.GET('/api/v1/deals/groups', { signal, params: { query } }))
    },
    placeholderData: keepPreviousData,
    enabled: !isOpen(stage),
  })
  const groups = useHeld(query.data, held)?.groups
  if (isOpen(stage) || !groups) return undefined
  const found = groups.find((group) => group.value === stage)
  const sums = { stage, count: found?.count ?? 0, value: found?.sums?.value ?? 0 }
  return movedSums([sums], moves)[0]
}

type StageSums = { stage: Stage; count: number; value: number }

function movedSums<Sums extends StageSums>(
  stages: readonly Sums[],
  moves: ReadonlyMap<number, Move>,
): Sums[] {
  const all = stages.map((one) => ({ ...one }))
  for (const { deal, to } of moves.values())
    for (const sums of all) {
      const by = Number(sums.stage === to) - Number(sums.stage === deal.stage)
      sums.count += by
      sums.value += by * (deal.value ?? 0)
    }
  return all
}

function moved(report: Pipeline, moves: ReadonlyMap<number, Move>): Pipeline {
  if (!moves.size) return report
  const stages = movedSums(report.stages, moves)
  const open = stages.filter(({ stage }) => isOpen(stage))
  const weighted = [...moves.values()].reduce(
    (sum, { deal, to }) => sum + weightOf(dealIn(deal, to)) - weightOf(deal),
    report.total_open.weighted_value,
  )
  const total_open = {
    weighted_value: weighted,
    count: open.reduce((sum, { count }) => sum + count, 0),
    value: open.reduce((sum, { value }) => sum + value, 0),
  }
  return { stages, total_open }
}

/** The part of a deal in the weighted sum of open deals. */
const weightOf = ({ stage, value, probability }: Deal): number =>
  isOpen(stage) ? ((value ?? 0) * probability) / 100 : 0
