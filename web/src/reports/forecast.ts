import type { Schemas } from '../api/client.ts'
import type { Search } from '../app/addresses.ts'
import type { Formats } from '../app/intl.ts'
import { addDays } from '../app/zones.ts'
import type { Texts } from '../texts/with-reports.ts'
import { lastDayOf } from './periods.ts'
import { type Bar, type Cell, type Target, unlessNone, type View } from './view.ts'

type Filters = Search<'/deals'>
type Forecast = Schemas['ForecastReport']
type Sums = { count: number; value: number; weighted_value: number }
type Won = { won_count: number; won_value: number }

/** A part of the forecast: a month, or the deals that are overdue, later or without a date. */
type Bucket = Sums & {
  key: string
  label: string
  won?: Won | undefined
  open: Filters
  closed?: Filters
  owners: (Sums & Partial<Won> & { owner_id: string | null })[]
}

function bucketsOf(
  { today, overdue, months, later, undated }: Forecast,
  t: Texts,
  formats: Formats,
): Bucket[] {
  const { reports } = t
  const last = lastDayOf(months.at(-1)?.month ?? today.slice(0, 7))
  return [
    {
      ...overdue,
      key: 'overdue',
      label: reports.overdue,
      open: { expected_close_to: addDays(today, -1) },
    },
    ...months.map((month) => {
      const [first, end] = [`${month.month}-01`, lastDayOf(month.month)]
      return {
        ...month,
        key: month.month,
        label: formats.month(month.month),
        won: month,
        open: { expected_close_from: first > today ? first : today, expected_close_to: end },
        closed: { closed_at_from: first, closed_at_to: end },
      }
    }),
    {
      ...later,
      key: 'later',
      label: reports.later,
      open: { expected_close_from: addDays(last, 1) },
    },
    {
      ...undated,
      key: 'undated',
      label: reports.undated,
      open: { expected_close_date: 'null' },
    },
  ]
}

/** A range of doubles has more digits than the service: sums of sums are rounded to its four decimals. */
const sum = (numbers: number[]) => Math.round(numbers.reduce((a, b) => a + b, 0) * 10_000) / 10_000

/** The open deals by the month in which they are expected to close, or by owner, with what was won. */
export function forecastView(
  report: Forecast,
  by: 'month' | 'owner',
  t: Texts,
  formats: Formats,
  owner: Filters,
  nameOf: (owner_id: string | null) => string,
): View {
  const { reports, deals, home } = t
  const money = formats.sum
  const buckets = bucketsOf(report, t, formats)
  const open = (filters: Filters, of = owner): Target => ({
    to: '/deals',
    search: { view: 'table', status: 'open', ...filters, ...of },
  })
  const closed = (filters: Filters, of = owner): Target => ({
    to: '/deals',
    search: { view: 'table', status: 'won', ...filters, ...of },
  })
  const countOf = (n: number) => deals.count({ n })
  const barOf = (
    row: { key: string; label: string },
    { count, value, weighted_value }: Sums,
    won: Won | undefined,
    targets: { open: Target | null; won: Target | null },
  ): Bar => ({
    ...row,
    ...(targets.won && !targets.open
      ? { value: money(won?.won_value ?? 0), hint: { shown: deals.statuses.won } }
      : {
          value: money(value),
          hint: targets.won
            ? {
                shown: reports.n_won({ value: formats.shortMoney(won?.won_value ?? 0) }),
                target: targets.won,
              }
            : undefined,
        }),
    target: targets.open ?? targets.won,
    parts: [
      { series: 'won', value: won?.won_value ?? 0, target: targets.won },
      { series: 'weighted', value: weighted_value, target: targets.open },
      { series: 'rest', value: Math.max(0, value - weighted_value), target: targets.open },
    ],
    lines: [
      { label: reports.expected, value: `${money(value)} · ${countOf(count)}` },
      { label: home.weighted, value: money(weighted_value) },
      ...(won
        ? [{ label: deals.statuses.won, value: `${money(won.won_value)} · ${countOf(won.won_count)}` }]
        : []),
    ],
  })
  const wonOf = (bucket: Bucket, of = owner) => (bucket.closed ? closed(bucket.closed, of) : null)
  const won_months = report.months.reduce(
    (all, month) => ({
      won_count: all.won_count + month.won_count,
      won_value: sum([all.won_value, month.won_value]),
    }),
    { won_count: 0, won_value: 0 },
  )
  const first = `${report.months[0]?.month}-01`
  const all_won = { closed_at_from: first, closed_at_to: report.today }
  const all = {
    open: unlessNone(report.total_open.count, open({})),
    won: unlessNone(won_months.won_count, closed(all_won)),
  }
  // Open deals of past months are overdue. The names of the other parts sort after the digits of months.
  const open_buckets = buckets.filter(({ key }) => key >= report.today.slice(0, 7))
  const by_owner = report.owners
    .map(({ owner_id, won_count, won_value, ...sums }) => ({
      key: String(owner_id),
      label: nameOf(owner_id),
      sums,
      won: { won_count, won_value },
      own: open_buckets.map((bucket) => bucket.owners.find((one) => one.owner_id === owner_id)),
      filter: { owner_id: owner_id ?? 'null' },
    }))
    .sort((a, b) => b.sums.value + b.won.won_value - a.sums.value - a.won.won_value)
  const amount = (value: number, target: Target | null): Cell => ({
    shown: money(value),
    plain: value,
    target,
  })
  const number = (value: number, target: Target | null): Cell => ({
    shown: formats.number(value),
    plain: value,
    target,
  })
  const text = (shown: string): Cell => ({ shown, plain: shown })
  const amountIn = (bucket: Bucket, sums: Sums | undefined, of = owner): Cell =>
    sums?.count ? amount(sums.value, open(bucket.open, of)) : text('')
  return {
    name: by === 'month' ? 'forecast' : 'forecast-by-owner',
    empty: report.total_open.count + won_months.won_count === 0,
    figures: [
      {
        label: home.open_value,
        value: money(report.total_open.value),
        hint: countOf(report.total_open.count),
        target: all.open,
      },
      {
        label: home.forecast,
        value: money(report.total_open.weighted_value),
        hint: home.forecast_hint,
        target: all.open,
      },
      {
        label: reports.overdue,
        value: money(report.overdue.value),
        hint: countOf(report.overdue.count),
        target: unlessNone(report.overdue.count, open(buckets[0]?.open ?? {})),
      },
      {
        label: reports.won_in_months,
        value: money(won_months.won_value),
        hint: countOf(won_months.won_count),
        target: all.won,
      },
    ],
    series: [
      { key: 'won', label: deals.statuses.won, look: 'won' },
      { key: 'weighted', label: reports.expected_weighted, look: 'main' },
      { key: 'rest', label: reports.expected_rest, look: 'soft' },
    ],
    axis: formats.shortMoney,
    bars:
      by === 'month'
        ? buckets.map((bucket) =>
            barOf(bucket, bucket, bucket.won, {
              open: unlessNone(bucket.count, open(bucket.open)),
              won: unlessNone(bucket.won?.won_count ?? 0, wonOf(bucket) as Target),
            }),
          )
        : by_owner.map((row) =>
            barOf(row, row.sums, row.won, {
              open: unlessNone(row.sums.count, open({}, row.filter)),
              won: unlessNone(row.won.won_count, closed(all_won, row.filter)),
            }),
          ),
    columns:
      by === 'month'
        ? [
            { label: reports.close_month },
            ...[reports.open_deals, reports.expected, home.weighted, home.won_deals, deals.statuses.won].map(
              (label) => ({ label, number: true }),
            ),
          ]
        : [
            { label: reports.person },
            ...open_buckets.map(({ label }) => ({ label, number: true })),
            ...[reports.expected, home.weighted, deals.statuses.won].map((label) => ({
              label,
              number: true,
            })),
          ],
    rows:
      by === 'month'
        ? [
            ...buckets.map((bucket) => {
              const target = unlessNone(bucket.count, open(bucket.open))
              const won = bucket.won
              const won_target = won ? unlessNone(won.won_count, wonOf(bucket) as Target) : null
              return {
                key: bucket.key,
                cells: [
                  text(bucket.label),
                  number(bucket.count, target),
                  amount(bucket.value, target),
                  amount(bucket.weighted_value, target),
                  won ? number(won.won_count, won_target) : text(''),
                  won ? amount(won.won_value, won_target) : text(''),
                ],
              }
            }),
            {
              key: 'total',
              sum: true,
              cells: [
                text(home.total),
                number(report.total_open.count, all.open),
                amount(report.total_open.value, all.open),
                amount(report.total_open.weighted_value, all.open),
                number(won_months.won_count, all.won),
                amount(won_months.won_value, all.won),
              ],
            },
          ]
        : [
            ...by_owner.map(({ key, label, own, sums, won, filter }) => {
              const target = unlessNone(sums.count, open({}, filter))
              return {
                key,
                cells: [
                  text(label),
                  ...open_buckets.map((bucket, index) => amountIn(bucket, own[index], filter)),
                  amount(sums.value, target),
                  amount(sums.weighted_value, target),
                  amount(won.won_value, unlessNone(won.won_count, closed(all_won, filter))),
                ],
              }
            }),
            {
              key: 'total',
              sum: true,
              cells: [
                text(home.total),
                ...open_buckets.map((bucket) => amountIn(bucket, bucket)),
                amount(report.total_open.value, all.open),
                amount(report.total_open.weighted_value, all.open),
                amount(won_months.won_value, all.won),
              ],
            },
          ],
  }
}
