import { Skeleton } from '@mantine/core'
import { useFormats } from '../app/formats.ts'
import { useTexts } from '../texts/texts.ts'
import type { useOutcomes, usePipelineReport } from './reports.ts'

type Props = { pipeline: ReturnType<typeof usePipelineReport>; outcomes: ReturnType<typeof useOutcomes> }
type Figure = { label: string; value: string | null; beside: string }
const none = '–'

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
  const figures: Figure[] = [
    {
      label: home.open_value,
      value: pipeline ? formats.sum(pipeline.total_open.value) : without(props.pipeline),
      beside: pipeline
        ? home.deals(pipeline.total_open.count, formats.number(pipeline.total_open.count))
        : '',
    },
    {
      label: home.forecast,
      value: pipeline ? formats.sum(pipeline.total_open.weighted_value) : without(props.pipeline),
      beside: home.forecast_hint,
    },
    {
      label: home.win_rate,
      value: outcomes
        ? outcomes.win_rate === null
          ? none
          : formats.percent(outcomes.win_rate)
        : without(props.outcomes),
      beside: !outcomes
        ? ''
        : closed
          ? home.won_of(formats.number(outcomes.won_count), formats.number(closed))
          : home.no_rate,
    },
    {
      label: home.won_this_month,
      value: month ? formats.sum(month.won_value) : without(props.outcomes),
      beside: month ? home.deals(month.won_count, formats.number(month.won_count)) : '',
    },
  ]
  return (
    <dl className="home-figures" aria-label={home.figures}>
      {figures.map(({ label, value, beside }) => (
        <div key={label} className="home-figure">
          <dt className="hint">{label}</dt>
          <dd className="numbers home-number">{value ?? <Skeleton height={22} width="60%" mt={6} />}</dd>
          <dd className="hint">{beside}</dd>
        </div>
      ))}
    </dl>
  )
}
