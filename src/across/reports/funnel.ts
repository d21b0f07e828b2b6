import { setImmediate as others } from 'node:timers/promises'
import { type SqlBool, sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { engineOf } from '../../db/tx.ts'
import { invalid } from '../../errors.ts'
import { deals } from '../../resources/deals/resource.ts'
import { openStagesOf } from '../../resources/deals/settings.ts'
import { type OpenStage, placeOf, type Stage, statusOf } from '../../resources/deals/stages.ts'
import { filtersOf, type ListRequest } from '../../resources/lists/list.ts'
import { rateOf } from './fields.ts'
import type { FunnelStage } from './funnel-schema.ts'

// One statement for all deals would hold up other requests on SQLite.
const slice = 1000
const max_deals = 200_000
const max_reasons = 10
const day_ms = 86_400_000

type Row = {
  id: number
  created_at: string
  stage: Stage
  lost_reason: string | null
  /** The changes of the stage: each is its time and the stage that it left. */
  changes: string | null
}
type Period = { from_time: string; to_time: string }
type Counts = { count: number; open_count: number; won_count: number; lost_count: number }

/** How far the live deals of a period came. The reasons of the lost ones are null unless `reasons`. */
export async function funnelOf(
  db: Db,
  request: Omit<ListRequest, 'listing'>,
  period: Period,
  { reasons }: { reasons: boolean },
): Promise<Counts & { win_rate: number | null; stages: FunnelStage[] }> {
  const counts: Counts = { count: 0, open_count: 0, won_count: 0, lost_count: 0 }
  const order = await openStagesOf(db, request.workspace_id)
  const places = order.map(() => ({
    open: 0,
    lost: 0,
    stays_ms: [] as number[],
    reasons: new Map<string | null, number>(),
  }))
  for await (const rows of slicesOf(db, request, period))
    for (const { stage, lost_reason, changes } of rows) {
      const status = statusOf(stage)
      const { place, stays_ms } = passageOf(stage, changes, order)
      counts.count++
      counts[`${status}_count`]++
      const last = places[place]
      if (last && status !== 'won') last[status]++
      if (last && status === 'lost') last.reasons.set(lost_reason, (last.reasons.get(lost_reason) ?? 0) + 1)
      for (const [index, ms] of stays_ms) places[index]?.stays_ms.push(ms)
    }
  // From the last stage to the first: a deal that came further came here, too.
  let further = counts.won_count
  const stages = places.toReversed().map(({ open, lost, stays_ms, reasons: found }, index) => {
    const reached = further + open + lost
    const shown: FunnelStage = {
      stage: order.at(-1 - index) as Stage,
      reached_count: reached,
      conversion_to_next: rateOf(further, reached),
      conversion_to_won: rateOf(counts.won_count, reached),
      open_count: open,
      lost_count: lost,
      ...daysOf(stays_ms),
      lost_reasons: reasons ? mostFrequent(found) : null,
    }
    further = reached
    return shown
  })
  const { won_count, lost_count } = counts
  return { ...counts, win_rate: rateOf(won_count, won_count + lost_count), stages: stages.toReversed() }
}

/**
 * The furthest open stage of a deal, and the milliseconds that it spent in each stage that it has left. Without an
 * entry of its creation, the start of its first stay is unknown.
 */
function passageOf(stage: Stage, changes: string | null, order: readonly OpenStage[]) {
  const placeIn = (one: Stage) => placeOf(one, order)
  let place = placeIn(stage)
  let entered: number | null = null
  const stays_ms = new Map<number, number>()
  for (const change of changes?.split(' ') ?? []) {
    const at = Date.parse(change.slice(0, time_length))
    const left = change.slice(time_length) as Stage | ''
    if (left) place = Math.max(place, placeIn(left))
    // Another process, whose clock may be ahead of ours, may have written a change.
    if (left && statusOf(left) === 'open' && left !== stage && entered !== null)
      stays_ms.set(placeIn(left), (stays_ms.get(placeIn(left)) ?? 0) + Math.max(0, at - entered))
    entered = at
  }
  return { place, stays_ms }
}

const time_length = '2026-11-21T08:30:00.000Z'.length

function daysOf(stays_ms: number[]) {
  const sorted = Float64Array.from(stays_ms).sort()
  const left_count = sorted.length
  if (!left_count) return { left_count, median_days: null, mean_days: null }
  const upper = sorted[left_count >> 1] ?? 0
  const lower = sorted[(left_count - 1) >> 1] ?? 0
  const mean = sorted.reduce((sum, ms) => sum + ms, 0) / left_count
  return { left_count, median_days: inDays((lower + upper) / 2), mean_days: inDays(mean) }
}
const inDays = (ms: number) => Math.round((ms * 100) / day_ms) / 100

function mostFrequent(reasons: ReadonlyMap<string | null, number>) {
  const lines = Array.from(reasons, ([reason, count]) => ({ reason, count }))
  // The same order on both engines: the most frequent first, then by the text.
  lines.sort((a, b) => b.count - a.count || ((a.reason ?? '') < (b.reason ?? '') ? -1 : 1))
  return lines.slice(0, max_reasons)
}

async function* slicesOf(
  db: Db,
  request: Omit<ListRequest, 'listing'>,
  { from_time, to_time }: Period,
): AsyncGenerator<Row[]> {
  const filters = await filtersOf(db, deals, request)
  if (!filters) return
  // All deals are read in the order of their creation, so no other index may serve a filter.
  const conditions = filters.map(({ plain }) => sql<SqlBool>` AND ${plain}`)
  const change = sql`changed_at || coalesce(from_stage, '')`
  const joined = engineOf(db) === 'postgres' ? sql`string_agg(change, ' ')` : sql`group_concat(change, ' ')`
  let after = { created_at: from_time, id: 0 }
  for (let read = 0; ; read += slice) {
    if (read > max_deals) throw tooMany()
    const { rows } = await sql<Row>`SELECT id, created_at, stage,
        CASE stage WHEN 'lost' THEN lost_reason END AS lost_reason,
        (SELECT ${joined} FROM (
          SELECT ${change} AS change FROM deal_stages
          WHERE deal_stages.workspace_id = deals.workspace_id AND deal_stages.deal_id = deals.id
          ORDER BY deal_stages.id) AS ordered) AS changes
      FROM deals
      WHERE workspace_id = ${request.workspace_id} AND deleted_at IS NULL
        AND (created_at, id) > (${after.created_at}, ${after.id}) AND created_at <= ${to_time}
        ${conditions.length ? sql.join(conditions, sql` `) : sql``}
      ORDER BY created_at, id LIMIT ${slice}`.execute(db)
    yield rows
    const last = rows.at(-1)
    if (!last || rows.length < slice) return
    after = last
    await others()
  }
}

const tooMany = () =>
  invalid([
    {
      field: 'from',
      code: 'too_many',
      message: `The period has more than ${max_deals} deals. Ask for fewer days or for an owner.`,
    },
  ])
