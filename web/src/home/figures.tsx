import { Skeleton } from '@mantine/core'
import type { Search } from '../app/addresses.ts'
import { useFormats } from '../app/formats.ts'
import { Link } from '../app/link.ts'
import { lastDayOf } from '../reports/periods.ts'
import { useTexts } from '../texts/texts.ts'
import type { useOutcomes, usePipelineReport } from './reports.ts'

type Props = { pipeline: ReturnType<typeof usePipelineReport>; outcomes: ReturnType<typeof useOutcomes> }
/** The filters of the deals that it counts, if there are any. */
type Filters = Search<'/deals'>
type Target = Filters | false | undefined
type Figure = { label: string; value: string | null; beside: string; target?: Target }
const none = '–'

/** The filters of the deals that were won in a month. */
const wonIn = (month: string): Filters => ({
  status: 'won',
  closed_at_from: `${month}-01`,
  closed_at_to: lastDayOf(month),
})

/** The four key figures. */
export function Figures(props: Props) {
  const { home } = useTexts()
  const formats = useFormats()
  const { data: pipeline } = props.pipeline
  const { data: outcomes } = props.outcomes
  // On an error, the cards below show why and offer a retry.
  const without = ({ error }: { error: unknown }) => (error ? none : null)
  const closed = outcomes ? outcomes.won_count + outcomes.lost_count : 0
  const month = outcomes?.months.at(-1)
  const open = pipeline && pipeline.total_open.count > 0 && { status: 'open' }
  const won = month && month.won_count > 0 && wonIn(month.month)
  const figures: Figure[] = [
    {
      label: home.open_value,
      value: pipeline ? formats.sum(pipeline.total_open.value) : without(props.pipeline),
      beside: pipeline ? home.deals({ n: pipeline.total_open.count }) : '',
      target: open,
    },
    {
      label: home.forecast,
      value: pipeline ? formats.sum(pipeline.total_open.weighted_value) : without(props.pipeline),
      beside: home.forecast_hint,
      target: open,
    },
    {
      label: home.win_rate,
      value: outcomes
        ? outcomes.win_rate === null
          ? none
          : formats.percent(outcomes.win_rate)
        : without(props.outcomes),
      beside: !outcomes ? '' : closed ? home.won_of({ won: outcomes.won_count, all: closed }) : home.no_rate,
    },
    {
      label: home.won_this_month,
      value: month ? formats.sum(month.won_value) : without(props.outcomes),
      beside: month ? home.deals({ n: month.won_count }) : '',
      target: won,
    },
  ]
  return (
    <dl className="home-figures" aria-label={home.figures}>
      {figures.map(({ label, value, beside, target }) => (
        <div key={label} className="home-figure">
          <dt className="hint">{label}</dt>
          <dd className="numbers home-number">
            {value === null ? (
              <Skeleton height={22} width="60%" mt={6} />
            ) : target ? (
              <Link to="/deals" search={{ view: 'table', ...target }} aria-label={`${label}: ${value}`}>
                {value}
              </Link>
            ) : (
              value
            )}
          </dd>
          <dd className="hint">{beside}</dd>
        </div>
      ))}
    </dl>
  )
}
