import { Button, SegmentedControl, Skeleton, TextInput } from '@mantine/core'
import { DownloadIcon } from '@primer/octicons-react'
import { useMemo } from 'react'
import { useFormats } from '../app/formats.ts'
import { late } from '../app/late.ts'
import { useNavigate } from '../app/link.ts'
import { ProblemNote } from '../app/problems.tsx'
import { useMay } from '../app/session.ts'
import { useOwnerName } from '../record/fields/members.ts'
import { useOwnerFilter } from '../record/fields/owner.tsx'
import { useNames } from '../record/kinds.ts'
import { useTexts } from '../texts/with-reports.ts'
import { Empty } from '../ui/empty.tsx'
import { useListFilters } from '../ui/filters.tsx'
import { Select } from '../ui/late-inputs.tsx'
import { useAddress, useListView } from '../ui/list-view.ts'
import { Page } from '../ui/page.tsx'
import { forecastView } from './forecast.ts'
import { funnelView, reasonsOf } from './funnel.ts'
import { peopleView } from './people.ts'
import { daysOf, monthAfter, ownDays, type Period, periods } from './periods.ts'
import { months_before, useForecast, useFunnel, usePeople } from './queries.ts'
import { Figure, ReportTable } from './report-table.tsx'
import { csvOf, type View } from './view.ts'
import './reports.css'

// The figures and the table do not wait for the library of charts.
const Chart = late(async () => (await import('./chart.tsx')).Chart, <Bars />)

const kinds = ['funnel', 'forecast', 'people'] as const
const ahead = [2, 5, 11, 23]
const own_period = 'own'
const max_days = { funnel: 1096, people: 366 }

/** The reports. The address holds the report, its period and owner, and how it is shown. */
export function ReportsPage() {
  const t = useTexts()
  const { reports } = t
  const formats = useFormats()
  const may = useMay()
  const { address, change } = useAddress()
  const ownerName = useOwnerName()
  const deal = useNames('deals')
  const navigate = useNavigate()
  const createDeal = () => navigate({ to: '/deals', search: { create: '1' } })
  const kind = kinds.find((one) => one === address.report) ?? 'funnel'
  const by = address.by === 'owner' ? 'owner' : 'month'
  const as_table = address.as === 'table'
  const months = ahead.find((one) => String(one) === address.months) ?? 5
  const own = kind === 'forecast' ? null : ownDays(address, max_days[kind])
  const period = own ? own_period : (periods.find((one) => one === address.period) ?? usual[kind])
  const days = own ?? daysOf(period as Period, formats.today())
  const by_owner = useOwnerFilter('deals')
  const filters = useMemo(() => [by_owner], [by_owner])
  const list_view = useListView(filters)
  const filtering = useListFilters({ view: list_view, filters, search: false })
  const { owner_id } = list_view.filters
  const owner: { owner_id?: string } = owner_id ? { owner_id } : {}
  const asked = { time_zone: formats.zone, ...owner }
  const allowed = may('reports:read')
  const funnel = useFunnel(days, asked, allowed && kind === 'funnel')
  const forecast = useForecast(months, asked, allowed && kind === 'forecast')
  const people = usePeople(days, asked, allowed && kind === 'people')

  const nameOf = (id: string | null) => (id === null ? reports.nobody : (ownerName(id) ?? id))
  const view: View | null | undefined = {
    funnel: () => funnel.data && funnelView(funnel.data, t, formats, owner),
    forecast: () => forecast.data && forecastView(forecast.data, by, t, formats, owner, nameOf),
    people: () => people.data && peopleView(people.data, t, formats, owner, nameOf),
  }[kind]()
  const { error, refetch, isPlaceholderData } = { funnel, forecast, people }[kind]
  const of_owners = kind === 'people' ? people : kind === 'forecast' && by === 'owner' ? forecast : null
  const omitted = of_owners?.data?.omitted_owners
  const label = reports.names[kind]

  return (
    <Page
      title={t.app.reports}
      middle={
        <SegmentedControl
          size="xs"
          aria-label={reports.which}
          value={kind}
          onChange={(report) =>
            change({
              report: report === 'funnel' ? null : report,
              by: null,
              period: null,
              from: null,
              to: null,
            })
          }
          data={kinds.map((value) => ({ value, label: reports.names[value] }))}
        />
      }
      actions={
        <>
          <SegmentedControl
            size="xs"
            aria-label={reports.shown_as}
            value={as_table ? 'table' : 'chart'}
            onChange={(as) => change({ as: as === 'table' ? as : null }, true)}
            data={[
              { value: 'chart', label: reports.chart },
              { value: 'table', label: reports.table },
            ]}
          />
          <Button
            variant="default"
            leftSection={<DownloadIcon size={14} />}
            disabled={!view || view.empty}
            onClick={() => view && download(view)}
          >
            {reports.csv}
          </Button>
        </>
      }
      below={
        <div className="report-filters">
          {kind === 'forecast' ? (
            <AheadFilter months={months} by={by} change={change} />
          ) : (
            <PeriodFilter
              key={`${kind} ${days.from} ${days.to}`}
              kind={kind}
              period={period}
              days={days}
              change={change}
            />
          )}
          {filtering.line}
          {filtering.chips}
        </div>
      }
    >
      <div className="report" aria-busy={isPlaceholderData}>
        {!allowed ? (
          <Empty text={reports.not_allowed} />
        ) : error ? (
          <ProblemNote error={error} onRetry={refetch} />
        ) : !view ? (
          <Awaited />
        ) : (
          <>
            <Figures view={view} label={label} />
            {view.empty ? (
              <Empty
                text={reports.empty[kind]}
                {...(kind !== 'people' &&
                  may('deals:write') && { action: deal.create, onAction: createDeal })}
              />
            ) : as_table ? (
              <ReportTable view={view} label={label} />
            ) : (
              <Chart view={view} label={label} />
            )}
            {omitted ? <p className="hint">{reports.omitted({ n: omitted })}</p> : null}
            {kind === 'funnel' && funnel.data && !view.empty && (
              <Reasons report={funnel.data} owner={owner} />
            )}
            <p className="hint report-note">{reports.notes[kind]}</p>
          </>
        )}
      </div>
    </Page>
  )
}

const usual = { funnel: 'last_90', forecast: 'last_90', people: 'last_30' } as const

function Figures({ view, label }: { view: View; label: string }) {
  return (
    <dl className="report-figures" aria-label={label}>
      {view.figures.map(({ label, value, hint, target }) => (
        <div key={label}>
          <dt className="hint">{label}</dt>
          <dd className="report-figure numbers">
            <Figure shown={value} target={target ?? null} said={`${label}: ${value}`} />
          </dd>
          {hint && <dd className="hint">{hint}</dd>}
        </div>
      ))}
    </dl>
  )
}

type ReasonsProps = { report: Parameters<typeof reasonsOf>[0]; owner: { owner_id?: string } }
function Reasons({ report, owner }: ReasonsProps) {
  const { reports, deals, fields, home } = useTexts()
  const { number } = useFormats()
  const lines = reasonsOf(report, owner)
  if (!lines.length) return null
  const text = (shown: string) => ({ shown, plain: shown })
  return (
    <section className="report-reasons">
      <h2>{reports.reasons}</h2>
      <ReportTable
        label={reports.reasons}
        view={{
          columns: [{ label: deals.reason }, { label: fields.stage }, { label: home.count, number: true }],
          rows: lines.map(({ stage, reason, count, target }) => ({
            // The reason may be the text `null`.
            key: JSON.stringify([stage, reason]),
            cells: [
              text(reason ?? reports.no_reason),
              text(deals.stages[stage]),
              { shown: number(count), plain: count, target },
            ],
          })),
        }}
      />
    </section>
  )
}

type Change = ReturnType<typeof useAddress>['change']

/** How far a forecast looks ahead, and by what it adds up. */
function AheadFilter({ months, by, change }: { months: number; by: 'month' | 'owner'; change: Change }) {
  const { reports } = useTexts()
  const formats = useFormats()
  const monthIn = (months: number) => formats.longMonth(monthAfter(formats.today(), months))
  const rangeOf = (months_after: number) => `${monthIn(-months_before)} – ${monthIn(months_after)}`
  return (
    <>
      <Select
        size="xs"
        className="report-long"
        label={reports.period}
        data={ahead.map((one) => ({ value: String(one), label: rangeOf(one) }))}
        value={String(months)}
        allowDeselect={false}
        onChange={(value) => change({ months: value === '5' ? null : value })}
      />
      <SegmentedControl
        size="xs"
        aria-label={reports.by}
        value={by}
        onChange={(value) => change({ by: value === 'owner' ? value : null })}
        data={[
          { value: 'month', label: reports.by_month },
          { value: 'owner', label: reports.by_owner },
        ]}
      />
    </>
  )
}

type PeriodProps = {
  kind: 'funnel' | 'people'
  period: string
  days: { from: string; to: string }
  change: Change
}

function PeriodFilter({ kind, period, days, change }: PeriodProps) {
  const { reports } = useTexts()
  const choose = (value: string | null) =>
    change(
      value === own_period
        ? { period: null, ...days }
        : { period: value === usual[kind] ? null : value, from: null, to: null },
    )
  /** Takes over the day when both make a period. */
  const end = (name: 'from' | 'to') => ({
    type: 'date',
    size: 'xs',
    label: reports[name],
    defaultValue: days[name],
    onBlur: (event: React.FocusEvent<HTMLInputElement>) => {
      const wanted = { ...days, [name]: event.currentTarget.value }
      if (ownDays(wanted, max_days[kind])) change(wanted, true)
      else event.currentTarget.value = days[name]
    },
    onKeyDown: (event: React.KeyboardEvent<HTMLInputElement>) => {
      if (event.key === 'Enter') event.currentTarget.blur()
    },
  })
  return (
    <>
      <Select
        size="xs"
        label={reports.period}
        data={[
          ...periods.map((value) => ({ value: value as string, label: reports.periods[value] })),
          { value: own_period, label: reports.own_period },
        ]}
        value={period}
        allowDeselect={false}
        onChange={choose}
      />
      {period === own_period && (
        <>
          <TextInput {...end('from')} />
          <TextInput {...end('to')} />
        </>
      )}
    </>
  )
}

function Awaited() {
  const t = useTexts()
  return (
    <div className="report-awaited" role="status" aria-label={t.app.loading}>
      <Skeleton height={56} />
      <Bars />
    </div>
  )
}

function Bars() {
  return (
    <div className="report-awaited">
      {[90, 70, 55, 40, 30, 20].map((width) => (
        <Skeleton key={width} height={28} width={`${width}%`} />
      ))}
    </div>
  )
}

function download(view: View): void {
  // The mark tells spreadsheets that the file is UTF-8.
  const href = URL.createObjectURL(new Blob(['\uFEFF', csvOf(view)], { type: 'text/csv;charset=utf-8' }))
  const link = document.createElement('a')
  link.href = href
  link.download = `${view.name}.csv`
  link.click()
  // The browser has begun to read the file by then.
  setTimeout(() => URL.revokeObjectURL(href), 10_000)
}
