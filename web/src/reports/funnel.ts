import type { Schemas } from '../api/client.ts'
import type { Search } from '../app/addresses.ts'
import type { Formats } from '../app/intl.ts'
import type { Texts } from '../texts/with-reports.ts'
import { writeParts } from '../ui/filter-value.ts'
import { type Target, unlessNone, type View } from './view.ts'

type Filters = Search<'/deals'>
type Funnel = Schemas['FunnelReport']

/** How far the deals of a period came, stage by stage. */
export function funnelView(report: Funnel, t: Texts, formats: Formats, owner: Filters): View {
  const { reports, deals } = t
  const { number, percent } = formats
  const rate = (value: number | null) => (value === null ? '' : percent(value))
  // With as many decimals in each row.
  const decimals = { minimumFractionDigits: 1, maximumFractionDigits: 1 } as const
  const day_number = new Intl.NumberFormat(formats.locale, decimals)
  const even_percent = new Intl.NumberFormat(formats.locale, { style: 'percent', ...decimals })
  const days = (value: number | null) => (value === null ? '' : day_number.format(value))
  const even = (value: number | null) => (value === null ? '' : even_percent.format(value))
  const list = listOf(report, owner)
  const codes = report.stages.map(({ stage }) => stage)
  const stages = report.stages.map((stage, place) => {
    // All deals are in the first stage or past it.
    const reached = list(place ? { furthest_stage: codes.slice(place).join() } : {})
    const here = { furthest_stage: stage.stage }
    return {
      ...stage,
      further_count: stage.reached_count - stage.open_count - stage.lost_count,
      reached: unlessNone(stage.reached_count, reached),
      open: unlessNone(stage.open_count, list({ ...here, status: 'open' })),
      lost: unlessNone(stage.lost_count, list({ ...here, status: 'lost' })),
    }
  })
  const won = unlessNone(report.won_count, list({ status: 'won' }))
  const count = (value: number, target?: Target | null) => ({
    shown: number(value),
    plain: value,
    target: target ?? null,
  })
  return {
    name: 'funnel',
    empty: report.count === 0,
    figures: [
      { label: reports.created, value: number(report.count), target: unlessNone(report.count, list({})) },
      {
        label: deals.statuses.open,
        value: number(report.open_count),
        target: unlessNone(report.open_count, list({ status: 'open' })),
      },
      { label: deals.statuses.won, value: number(report.won_count), target: won },
      {
        label: deals.statuses.lost,
        value: number(report.lost_count),
        target: unlessNone(report.lost_count, list({ status: 'lost' })),
      },
      { label: t.home.win_rate, value: rate(report.win_rate) || '–', hint: reports.win_rate_hint },
    ],
    series: [
      { key: 'further', label: reports.further, look: 'main' },
      { key: 'open', label: reports.stopped_open, look: 'soft' },
      { key: 'lost', label: reports.stopped_lost, look: 'lost' },
      { key: 'won', label: deals.statuses.won, look: 'won' },
    ],
    axis: number,
    bars: [
      ...stages.map((stage) => ({
        key: stage.stage,
        label: deals.stages[stage.stage],
        value: number(stage.reached_count),
        hint:
          stage.conversion_to_next === null ? undefined : { shown: `↓ ${percent(stage.conversion_to_next)}` },
        target: stage.reached,
        parts: [
          { series: 'further', value: stage.further_count, target: stage.reached },
          { series: 'open', value: stage.open_count, target: stage.open },
          { series: 'lost', value: stage.lost_count, target: stage.lost },
        ],
        lines: [
          { label: reports.reached, value: number(stage.reached_count) },
          {
            label: reports.further,
            value: [number(stage.further_count), rate(stage.conversion_to_next)].filter(Boolean).join(' · '),
          },
          { label: reports.stopped_open, value: number(stage.open_count) },
          { label: reports.stopped_lost, value: number(stage.lost_count) },
          ...(stage.median_days === null
            ? []
            : [{ label: reports.median_days, value: days(stage.median_days) }]),
        ],
      })),
      {
        key: 'won',
        label: deals.stages.won,
        value: number(report.won_count),
        target: won,
        parts: [{ series: 'won', value: report.won_count, target: won }],
        lines: [{ label: deals.statuses.won, value: number(report.won_count) }],
      },
    ],
    columns: [
      { label: t.fields.stage },
      ...[
        reports.reached,
        reports.to_next,
        reports.to_won,
        reports.stopped_open,
        reports.stopped_lost,
        reports.median_days,
        reports.mean_days,
      ].map((label) => ({ label, number: true })),
    ],
    rows: stages.map((stage) => ({
      key: stage.stage,
      cells: [
        { shown: deals.stages[stage.stage], plain: deals.stages[stage.stage] },
        count(stage.reached_count, stage.reached),
        { shown: even(stage.conversion_to_next), plain: stage.conversion_to_next ?? '' },
        { shown: even(stage.conversion_to_won), plain: stage.conversion_to_won ?? '' },
        count(stage.open_count, stage.open),
        count(stage.lost_count, stage.lost),
        { shown: days(stage.median_days), plain: stage.median_days ?? '' },
        { shown: days(stage.mean_days), plain: stage.mean_days ?? '' },
      ],
    })),
  }
}

/** The lists of the deals of the period. */
const listOf =
  ({ from, to }: Funnel, owner: Filters) =>
  (filters: Filters): Target => ({
    to: '/deals',
    search: { view: 'table', created_from: from, created_to: to, ...owner, ...filters },
  })

/** The most frequent reasons of the lost deals, with the stage that they reached and a link to them. */
export function reasonsOf(report: Funnel, owner: Filters) {
  const list = listOf(report, owner)
  const lines = report.stages.flatMap(({ stage, lost_reasons }) =>
    (lost_reasons ?? []).map(({ reason, count }) => {
      const lost_reason = writeParts([{ not: false, value: reason }])
      return { stage, reason, count, target: list({ furthest_stage: stage, status: 'lost', lost_reason }) }
    }),
  )
  return lines.sort((a, b) => b.count - a.count).slice(0, 10)
}
