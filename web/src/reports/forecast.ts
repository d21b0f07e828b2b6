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

const none: Won = { won_count: 0, won_value: 0 }

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

/** The writers of the figures, the bars and the rows of a forecast. */
function partsOf(report: Forecast, t: Texts, formats: Formats, owner: Filters) {
  const money = formats.sum
  const list =
    (status: 'open' | 'won') =>
    (filters: Filters, of = owner): Target => ({
      to: '/deals',
      search: { view: 'table', status, ...filters, ...of },
    })
  const [open, closed] = [list('open'), list('won')]
  const won = report.months.reduce(
    (all, month) => ({
      won_count: all.won_count + month.won_count,
      won_value: sum([all.won_value, month.won_value]),
    }),
    none,
  )
  const all_won = { closed_at_from: `${report.months[0]?.month}-01`, closed_at_to: report.today }
  // A part without deals says nothing.
  const buckets = bucketsOf(report, t, formats).filter((one) => one.count + (one.won?.won_count ?? 0) > 0)
  return {
    buckets,
    // Open deals of past months are overdue.
    open_buckets: buckets.filter(({ count }) => count > 0),
    won,
    money,
    open,
    all: {
      open: unlessNone(report.total_open.count, open({})),
      won: unlessNone(won.won_count, closed(all_won)),
    },
    openOf: (bucket: Bucket) => unlessNone(bucket.count, open(bucket.open)),
    wonOf: ({ won = none, closed: filters }: Bucket) =>
      filters ? unlessNone(won.won_count, closed(filters)) : null,
    /** The deals that an owner has won in the months. */
    wonBy: ({ won_count }: Won, of: Filters) => unlessNone(won_count, closed(all_won, of)),
    countOf: (n: number) => t.deals.count({ n }),
    text: (shown: string): Cell => ({ shown, plain: shown }),
    amount: (value: number, target: Target | null): Cell => ({ shown: money(value), plain: value, target }),
    number: (value: number, target: Target | null): Cell => ({
      shown: formats.number(value),
      plain: value,
      target,
    }),
  }
}
type Parts = ReturnType<typeof partsOf>

type Row = { key: string; label: string; sums: Sums; won: Won; open: Target | null; closed: Target | null }

/** The rows by month: the value of each is that of the open deals, and the hint that of the won ones. */
const monthRows = ({ buckets, openOf, wonOf }: Parts): Row[] =>
  buckets.map((bucket) => ({
    key: bucket.key,
    label: bucket.label,
    sums: bucket,
    won: bucket.won ?? none,
    open: openOf(bucket),
    closed: wonOf(bucket),
  }))

type OwnerRow = Row & { own: (Sums | undefined)[]; filter: Filters }

/** The rows by owner, those with the highest sums first. */
const ownerRows = (
  report: Forecast,
  { open_buckets, open, wonBy }: Parts,
  nameOf: (owner_id: string | null) => string,
): OwnerRow[] =>
  report.owners
    .map(({ owner_id, won_count, won_value, ...sums }) => {
      const filter = { owner_id: owner_id ?? 'null' }
      const won = { won_count, won_value }
      return {
        key: String(owner_id),
        label: nameOf(owner_id),
        sums,
        won,
        own: open_buckets.map((bucket) => bucket.owners.find((one) => one.owner_id === owner_id)),
        filter,
        open: unlessNone(sums.count, open({}, filter)),
        closed: wonBy(won, filter),
      }
    })
    .sort((a, b) => b.sums.value + b.won.won_value - a.sums.value - a.won.won_value)

/** A bar: the end of its row is the value of the open deals, and below it that of the won ones. */
function barOf(
  { key, label, sums, won, open, closed }: Row,
  { money, countOf }: Parts,
  t: Texts,
  formats: Formats,
): Bar {
  const { reports, deals, home } = t
  const { count, value, weighted_value } = sums
  const { won_count, won_value } = won
  return {
    key,
    label,
    value: open ? money(value) : '–',
    hint: closed
      ? { shown: reports.n_won({ value: formats.shortMoney(won_value) }), target: closed }
      : undefined,
    target: open,
    parts: [
      { series: 'won', value: won_value, target: closed },
      { series: 'weighted', value: weighted_value, target: open },
      { series: 'rest', value: Math.max(0, value - weighted_value), target: open },
    ],
    lines: [
      { label: reports.expected, value: `${money(value)} · ${countOf(count)}` },
      { label: home.weighted, value: money(weighted_value) },
      ...(closed
        ? [{ label: deals.statuses.won, value: `${money(won_value)} · ${countOf(won_count)}` }]
        : []),
    ],
  }
}

function figuresOf(report: Forecast, { all, won, money, countOf, buckets, openOf }: Parts, t: Texts) {
  const { reports, home } = t
  const overdue = buckets.find(({ key }) => key === 'overdue')
  return [
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
      target: overdue ? openOf(overdue) : null,
    },
    {
      label: reports.won_in_months,
      value: money(won.won_value),
      hint: countOf(won.won_count),
      target: all.won,
    },
  ]
}

const numbers = (labels: string[]) => labels.map((label) => ({ label, number: true }))

function monthTable(
  report: Forecast,
  rows: readonly Row[],
  parts: Parts,
  t: Texts,
): Pick<View, 'columns' | 'rows'> {
  const { text, amount, number, all, won: all_won } = parts
  const { reports, deals, home } = t
  const cells = (label: string, { sums, won, open, closed }: Omit<Row, 'key' | 'label'>) => [
    text(label),
    ...(open
      ? [number(sums.count, open), amount(sums.value, open), amount(sums.weighted_value, open)]
      : [text(''), text(''), text('')]),
    ...(closed ? [number(won.won_count, closed), amount(won.won_value, closed)] : [text(''), text('')]),
  ]
  const total = { sums: report.total_open, won: all_won, open: all.open, closed: all.won }
  return {
    columns: [
      { label: reports.close_month },
      ...numbers([reports.open_deals, reports.expected, home.weighted, home.won_deals, deals.statuses.won]),
    ],
    rows: [
      ...rows.map((row) => ({ key: row.key, cells: cells(row.label, row) })),
      { key: 'total', sum: true, cells: cells(home.total, total) },
    ],
  }
}

function ownerTable(
  report: Forecast,
  rows: readonly OwnerRow[],
  parts: Parts,
  t: Texts,
): Pick<View, 'columns' | 'rows'> {
  const { text, amount, open, open_buckets, all, won: all_won } = parts
  const { reports, deals, home } = t
  const amountIn = (bucket: Bucket, sums: Sums | undefined, of?: Filters): Cell =>
    sums?.count ? amount(sums.value, open(bucket.open, of)) : text('')
  return {
    columns: [
      { label: reports.person },
      ...numbers([
        ...open_buckets.map(({ label }) => label),
        reports.expected,
        home.weighted,
        deals.statuses.won,
      ]),
    ],
    rows: [
      ...rows.map(({ key, label, own, sums, won, open, closed, filter }) => ({
        key,
        cells: [
          text(label),
          ...open_buckets.map((bucket, index) => amountIn(bucket, own[index], filter)),
          amount(sums.value, open),
          amount(sums.weighted_value, open),
          amount(won.won_value, closed),
        ],
      })),
      {
        key: 'total',
        sum: true,
        cells: [
          text(home.total),
          ...open_buckets.map((bucket) => amountIn(bucket, bucket)),
          amount(report.total_open.value, all.open),
          amount(report.total_open.weighted_value, all.open),
          amount(all_won.won_value, all.won),
        ],
      },
    ],
  }
}

/** The open deals by the month in which they are expected to close, or by owner, with what was won. */
export function forecastView(
  report: Forecast,
  by: 'month' | 'owner',
  t: Texts,
  formats: Formats,
  owner: Filters,
  nameOf: (owner_id: string | null) => string,
): View {
  const { reports, deals } = t
  const parts = partsOf(report, t, formats, owner)
  const months = monthRows(parts)
  const owners = ownerRows(report, parts, nameOf)
  return {
    name: by === 'month' ? 'forecast' : 'forecast-by-owner',
    empty: report.total_open.count + parts.won.won_count === 0,
    figures: figuresOf(report, parts, t),
    series: [
      { key: 'won', label: deals.statuses.won, look: 'won' },
      { key: 'weighted', label: reports.expected_weighted, look: 'main' },
      { key: 'rest', label: reports.expected_rest, look: 'soft' },
    ],
    axis: formats.shortMoney,
    bars: (by === 'month' ? months : owners).map((row) => barOf(row, parts, t, formats)),
    ...(by === 'month' ? monthTable(report, months, parts, t) : ownerTable(report, owners, parts, t)),
  }
}
