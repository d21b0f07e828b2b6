import { useFormats } from '../app/formats.ts'
import { Link } from '../app/link.ts'
import { StageMark } from '../deals/stage-badge.tsx'
import { isOpen, stageColour } from '../deals/stages.ts'
import { useTexts } from '../texts/texts.ts'
import { Card } from './card.tsx'
import { usePipelineReport } from './reports.ts'

const shortened_from = 1_000_000

/**
 * The open stages as bars: the full bar is the value, the solid part the weighted value. The bars are in a
 * table with the same numbers.
 */
export function PipelineChart() {
  const t = useTexts()
  const formats = useFormats()
  const { data, error, refetch } = usePipelineReport()
  const stages = data?.stages.filter(({ stage }) => isOpen(stage)) ?? []
  // Longer amounts do not fit. Their titles have the full ones.
  const money = (data?.total_open.value ?? 0) < shortened_from ? formats.sum : formats.shortMoney
  const amount = (value: number) => <span title={formats.sum(value)}>{money(value)}</span>
  const highest = Math.max(...stages.map(({ value }) => value), 1)
  return (
    <Card
      title={t.home.pipeline}
      area="pipeline"
      waiting={!data}
      error={error}
      onRetry={refetch}
      beside={<Legend />}
    >
      <div className="home-pipeline-scroll">
        <table className="home-pipeline-table" aria-label={t.home.pipeline}>
          <thead>
            <tr>
              <th scope="col">{t.fields.stage}</th>
              <td aria-hidden />
              <th scope="col" className="number">
                {t.fields.value}
              </th>
              <th scope="col" className="number">
                {t.home.weighted}
              </th>
              <th scope="col" className="number">
                {t.home.count}
              </th>
            </tr>
          </thead>
          <tbody>
            {stages.map(({ stage, value, weighted_value, count }) => (
              <tr key={stage}>
                <th scope="row">
                  <Link to="/deals" search={{ view: 'table', stage }} className="home-stage">
                    <StageMark stage={stage} />
                    <span>{t.deals.stages[stage]}</span>
                  </Link>
                </th>
                <td aria-hidden className="home-bar-cell">
                  <span className="home-bar" style={{ width: `${(100 * value) / highest}%` }}>
                    <span className="home-bar-value" style={{ background: stageColour(stage) }} />
                    <span
                      className="home-bar-weighted"
                      style={{
                        background: stageColour(stage),
                        width: `${value ? (100 * weighted_value) / value : 0}%`,
                      }}
                    />
                  </span>
                </td>
                <td className="number numbers">{amount(value)}</td>
                <td className="number numbers">{amount(weighted_value)}</td>
                <td className="number numbers">{formats.number(count)}</td>
              </tr>
            ))}
          </tbody>
          {data && (
            <tfoot>
              <tr>
                <th scope="row">{t.home.total}</th>
                <td aria-hidden />
                <td className="number numbers">{amount(data.total_open.value)}</td>
                <td className="number numbers">{amount(data.total_open.weighted_value)}</td>
                <td className="number numbers">{formats.number(data.total_open.count)}</td>
              </tr>
            </tfoot>
          )}
        </table>
      </div>
      {data?.total_open.count === 0 && <p className="hint">{t.home.no_deals}</p>}
    </Card>
  )
}

function Legend() {
  const { home, fields } = useTexts()
  return (
    <span className="home-legend" aria-hidden>
      <span className="home-key home-key-weighted" /> {home.weighted}
      <span className="home-key home-key-value" /> {fields.value}
    </span>
  )
}
