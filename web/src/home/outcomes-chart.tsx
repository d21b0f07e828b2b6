import { CheckCircleFillIcon, XCircleFillIcon } from '@primer/octicons-react'
import { type Formats, useFormats } from '../app/formats.ts'
import { useTexts } from '../texts/texts.ts'
import { Card } from './card.tsx'
import { type Outcomes, useOutcomes } from './reports.ts'
import { ticksTo } from './ticks.ts'

/** Two columns per month: won and lost. */
export function OutcomesChart() {
  const { home } = useTexts()
  const { data, error, refetch } = useOutcomes()
  return (
    <Card
      title={home.outcomes}
      area="outcomes"
      waiting={!data}
      error={error}
      onRetry={refetch}
      beside={<Legend />}
    >
      {data && <Columns outcomes={data} />}
    </Card>
  )
}

function Columns({ outcomes }: { outcomes: Outcomes }) {
  const { home, deals } = useTexts()
  const formats = useFormats()
  const { months } = outcomes
  const sum = (of: (month: Outcomes['months'][number]) => number) =>
    months.reduce((before, month) => before + of(month), 0)
  const won_value = sum(({ won_value }) => won_value)
  const lost_value = sum(({ lost_value }) => lost_value)
  // Without values, show the number of deals.
  const counted = won_value + lost_value === 0 && outcomes.won_count + outcomes.lost_count > 0
  const columns = months.map(({ month, ...of }) => ({
    month,
    won: counted ? of.won_count : of.won_value,
    lost: counted ? of.lost_count : of.lost_value,
  }))
  const ticks = ticksTo(Math.max(...columns.flatMap(({ won, lost }) => [won, lost])), counted)
  const top = ticks.at(-1) || 1
  const shown = counted ? formats.number : formats.sum
  const axis = counted ? formats.number : formats.shortMoney
  const said = counted
    ? home.outcomes_said({
        won: formats.number(outcomes.won_count),
        lost: formats.number(outcomes.lost_count),
      })
    : home.outcomes_said({ won: formats.sum(won_value), lost: formats.sum(lost_value) })
  const none = outcomes.won_count + outcomes.lost_count === 0
  return (
    <>
      <div
        className="home-columns"
        role="img"
        aria-label={`${home.outcomes}. ${none ? home.no_outcomes : said}`}
      >
        <div className="home-axis">
          {ticks.map((tick) => (
            <span key={tick} className="home-tick" style={{ bottom: `${(100 * tick) / top}%` }}>
              <span className="numbers">{axis(tick)}</span>
            </span>
          ))}
          {none && <span className="home-columns-none hint">{home.no_outcomes}</span>}
        </div>
        <div className="home-months">
          {columns.map(({ month, won, lost }) => (
            <div
              key={month}
              className="home-month"
              title={`${formats.month(month)}: ${deals.statuses.won} ${shown(won)}, ${deals.statuses.lost} ${shown(lost)}`}
            >
              <div className="home-pair">
                <span className="home-column home-won" style={{ height: `${(100 * won) / top}%` }} />
                <span className="home-column home-lost" style={{ height: `${(100 * lost) / top}%` }} />
              </div>
              <span className="home-month-name">{formats.monthName(month)}</span>
            </div>
          ))}
        </div>
      </div>
      <details className="home-details">
        <summary>{home.as_table}</summary>
        <OutcomesTable outcomes={outcomes} formats={formats} />
      </details>
      {counted && <p className="hint">{home.counted}</p>}
    </>
  )
}

function OutcomesTable({ outcomes, formats }: { outcomes: Outcomes; formats: Formats }) {
  const { home, deals } = useTexts()
  return (
    <table className="home-outcomes-table" aria-label={home.outcomes}>
      <thead>
        <tr>
          {[home.month, deals.statuses.won, home.won_deals, deals.statuses.lost, home.lost_deals].map(
            (label, index) => (
              <th key={label} scope="col" className={index ? 'number' : undefined}>
                {label}
              </th>
            ),
          )}
        </tr>
      </thead>
      <tbody>
        {outcomes.months.toReversed().map(({ month, won_value, won_count, lost_value, lost_count }) => (
          <tr key={month}>
            <th scope="row">{formats.month(month)}</th>
            <td className="number numbers">{formats.sum(won_value)}</td>
            <td className="number numbers">{formats.number(won_count)}</td>
            <td className="number numbers">{formats.sum(lost_value)}</td>
            <td className="number numbers">{formats.number(lost_count)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Legend() {
  const { deals } = useTexts()
  return (
    <span className="home-legend" aria-hidden>
      <CheckCircleFillIcon size={12} className="home-won-sign" /> {deals.statuses.won}
      <XCircleFillIcon size={12} className="home-lost-sign" /> {deals.statuses.lost}
    </span>
  )
}
