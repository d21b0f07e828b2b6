import { open_stages, type Stage, stages, statusOf } from '../src/resources/deals/stages.ts'

// The reports, computed plainly by their definitions in docs/reports.md, from deals and activities in memory. The code of the
// reports is not used.

export type PlainDeal = {
  owner_id: string | null
  created_at: string
  closed_at: string | null
  stage: Stage
  /** Its stages, oldest first. */
  stays: { stage: Stage; at: string }[]
  lost_reason: string | null
  /** Its value in ten-thousandths. */
  units: bigint
  /** As it is shown. */
  probability: number
  /** The expected close date. */
  close: string | null
}
export const activity_types = ['call', 'email', 'meeting', 'task', 'other'] as const
export type PlainActivity = {
  owner_id: string | null
  type: (typeof activity_types)[number]
  due_at: string | null
  completed_at: string | null
}

const day_ms = 86_400_000
const days = new Map<string, Intl.DateTimeFormat>()

/** The calendar day of a time in a zone. */
export function dayIn(zone: string, time: string): string {
  const known = days.get(zone)
  const format = known ?? new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' })
  if (!known) days.set(zone, format)
  return format.format(new Date(time))
}

/** The month that is some months after another one, YYYY-MM. */
function monthAfter(month: string, count: number): string {
  const index = Number(month.slice(0, 4)) * 12 + Number(month.slice(5)) - 1 + count
  return `${Math.floor(index / 12)}-${String((index % 12) + 1).padStart(2, '0')}`
}

const rate = (part: number, whole: number) => (whole ? Math.round((part * 10_000) / whole) / 10_000 : null)
const daysOf = (ms: number) => Math.round((ms * 100) / day_ms) / 100
const sum = (numbers: number[]) => numbers.reduce((a, b) => a + b, 0)
const isOpen = ({ stage }: PlainDeal) => statusOf(stage) === 'open'

/** A decimal with four places as JSON has it: the number nearest to it. */
const number = (units: bigint) => Number(`${units / 10_000n}.${String(units % 10_000n).padStart(4, '0')}`)
/** The sum of the values. */
export const valueIn = (deals: PlainDeal[]) => number(deals.reduce((all, { units }) => all + units, 0n))
const sumsOf = (deals: PlainDeal[]) => ({
  count: deals.length,
  value: valueIn(deals),
  weighted_value: number(
    (deals.reduce((all, { units, probability }) => all + units * BigInt(probability), 0n) + 50n) / 100n,
  ),
})

export const plainPipeline = (deals: PlainDeal[]) => ({
  stages: stages.map((stage) => ({
    stage,
    status: statusOf(stage),
    ...sumsOf(deals.filter((deal) => deal.stage === stage)),
  })),
  total_open: sumsOf(deals.filter(isOpen)),
})

export function plainOutcomes(deals: PlainDeal[], zone: string, now: string, count: number) {
  const first = monthAfter(dayIn(zone, now).slice(0, 7), 1 - count)
  const months = Array.from({ length: count }, (_, n) => monthAfter(first, n))
  const closed = (stage: Stage, month: string) =>
    deals.filter((deal) => deal.stage === stage && dayIn(zone, deal.closed_at as string).startsWith(month))
  const lines = months.map((month) => {
    const [won, lost] = [closed('won', month), closed('lost', month)]
    return {
      month,
      won_count: won.length,
      won_value: valueIn(won),
      lost_count: lost.length,
      lost_value: valueIn(lost),
    }
  })
  const [won_count, lost_count] = [
    sum(lines.map(({ won_count }) => won_count)),
    sum(lines.map(({ lost_count }) => lost_count)),
  ]
  return { months: lines, won_count, lost_count, win_rate: rate(won_count, won_count + lost_count) }
}

/** The open activities by their due date. Times are compared as texts. */
export function plainActivities(activities: PlainActivity[], zone: string, now: string) {
  const due = activities.flatMap(({ due_at, completed_at }) => (completed_at || !due_at ? [] : [due_at]))
  const today = dayIn(zone, now)
  return {
    overdue_count: due.filter((at) => at < now).length,
    today_count: due.filter((at) => dayIn(zone, at) === today).length,
    upcoming_count: due.filter((at) => dayIn(zone, at) > today).length,
  }
}

function medianOf(numbers: number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  return sorted.length % 2
    ? (sorted[Math.floor(middle)] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2
}

/** The number of the furthest open stage that a deal has been in, from 0. */
export const furthestOf = ({ stays }: PlainDeal): number =>
  Math.max(
    ...stays.map(({ stage }) =>
      stage === 'won' ? 5 : Math.max(0, (open_stages as readonly Stage[]).indexOf(stage)),
    ),
  )

/** The milliseconds that a deal spent in a stage that it has left; null if it was never there, or is there now. */
function staysIn(stage: Stage, deal: PlainDeal): number | null {
  if (deal.stage === stage || !deal.stays.some((stay) => stay.stage === stage)) return null
  return sum(
    deal.stays.flatMap((stay, index) => {
      const next = deal.stays[index + 1]
      return stay.stage === stage && next ? [Date.parse(next.at) - Date.parse(stay.at)] : []
    }),
  )
}

/** The funnel of these deals, stage by stage, with the ten most frequent reasons. */
export function plainFunnel(deals: PlainDeal[]) {
  const places = new Map(deals.map((deal) => [deal, furthestOf(deal)]))
  const placeOf = (deal: PlainDeal) => places.get(deal) as number
  const open = deals.filter(isOpen)
  const [won, lost] = [
    deals.filter(({ stage }) => stage === 'won'),
    deals.filter(({ stage }) => stage === 'lost'),
  ]
  const reached = (place: number) => deals.filter((deal) => placeOf(deal) >= place).length
  return {
    count: deals.length,
    open_count: open.length,
    won_count: won.length,
    lost_count: lost.length,
    win_rate: rate(won.length, won.length + lost.length),
    stages: open_stages.map((stage, place) => {
      const further = place === 5 ? won.length : reached(place + 1)
      const times = deals.flatMap((deal) => staysIn(stage, deal) ?? [])
      const lost_here = lost.filter((deal) => placeOf(deal) === place)
      const reasons = Map.groupBy(lost_here, ({ lost_reason }) => lost_reason)
      return {
        stage,
        reached_count: reached(place),
        conversion_to_next: rate(further, reached(place)),
        conversion_to_won: rate(won.length, reached(place)),
        open_count: open.filter((deal) => placeOf(deal) === place).length,
        lost_count: lost_here.length,
        left_count: times.length,
        median_days: times.length ? daysOf(medianOf(times)) : null,
        mean_days: times.length ? daysOf(sum(times) / times.length) : null,
        lost_reasons: [...reasons]
          .map(([reason, { length }]) => ({ reason, count: length }))
          .sort((a, b) => b.count - a.count || ((a.reason ?? '') < (b.reason ?? '') ? -1 : 1))
          .slice(0, 10),
      }
    }),
  }
}

/** The lines of a report by owner: those with the most records in the report first. */
function byOwner<One extends { owner_id: string | null }, Line>(
  all: One[],
  own: One[],
  lineOf: (those: One[]) => Line,
) {
  const owners = Map.groupBy(own, ({ owner_id }) => owner_id)
  const sizes = Map.groupBy(all, ({ owner_id }) => owner_id)
  const size = (owner: string | null) => sizes.get(owner)?.length ?? 0
  return [...owners]
    .sort(([a], [b]) => size(b) - size(a) || ((a ?? '') < (b ?? '') ? -1 : 1))
    .map(([owner_id, those]) => ({ owner_id, ...lineOf(those) }))
}

export function plainForecast(
  deals: PlainDeal[],
  { zone, now, before, after }: { zone: string; now: string; before: number; after: number },
) {
  const today = dayIn(zone, now)
  const first = monthAfter(today.slice(0, 7), -before)
  const months = Array.from({ length: before + 1 + after }, (_, n) => monthAfter(first, n))
  const last = months.at(-1) as string
  const open = deals.filter(isOpen)
  const won = deals.filter(
    ({ stage, closed_at }) =>
      stage === 'won' && months.includes(dayIn(zone, closed_at as string).slice(0, 7)),
  )
  const bucketOf = ({ close }: PlainDeal) => {
    if (close === null) return 'undated'
    if (close < today) return 'overdue'
    return close.slice(0, 7) > last ? 'later' : close.slice(0, 7)
  }
  const counted = [...open, ...won]
  const both = (those: PlainDeal[]) => {
    const of_won = those.filter(({ stage }) => stage === 'won')
    return { ...sumsOf(those.filter(isOpen)), won_count: of_won.length, won_value: valueIn(of_won) }
  }
  const bucket = (name: string) => {
    const those = open.filter((deal) => bucketOf(deal) === name)
    return { ...sumsOf(those), owners: byOwner(counted, those, sumsOf) }
  }
  return {
    today,
    overdue: bucket('overdue'),
    months: months.map((month) => {
      const those = [
        ...open.filter((deal) => bucketOf(deal) === month),
        ...won.filter(({ closed_at }) => dayIn(zone, closed_at as string).startsWith(month)),
      ]
      return { month, ...both(those), owners: byOwner(counted, those, both) }
    }),
    later: bucket('later'),
    undated: bucket('undated'),
    total_open: sumsOf(open),
    owners: byOwner(counted, counted, both),
    omitted_owners: 0,
  }
}

export function plainPeople(
  activities: PlainActivity[],
  { zone, from, to, now }: { zone: string; from: string; to: string; now: string },
) {
  const within = (time: string | null) =>
    time !== null && dayIn(zone, time) >= from && dayIn(zone, time) <= to
  const done = (one: PlainActivity) => within(one.completed_at)
  const open = (one: PlainActivity) => one.completed_at === null && within(one.due_at)
  const counts = (those: PlainActivity[]) => ({
    done_count: those.filter(done).length,
    open_count: those.filter(open).length,
    overdue_count: those.filter((one) => open(one) && (one.due_at ?? now) < now).length,
  })
  const shown = (those: PlainActivity[]) => ({
    ...counts(those),
    types: activity_types.flatMap((type) => {
      const own = those.filter((one) => one.type === type)
      return own.length ? [{ type, ...counts(own) }] : []
    }),
  })
  const counted = activities.filter((one) => done(one) || open(one))
  return { ...shown(counted), people: byOwner(counted, counted, shown), omitted_owners: 0 }
}
