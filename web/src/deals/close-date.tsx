import { CalendarIcon, ClockIcon } from '@primer/octicons-react'
import { useFormats } from '../app/formats.ts'
import { useTexts } from '../texts/texts.ts'
import { Ago } from '../ui/values.tsx'
import type { Deal } from './deals.ts'
import './close-date.css'

type Props = {
  deal: Pick<Deal, 'expected_close_date' | 'status'>
  /** Without the year if it is the current one. */
  brief?: boolean
}

/** When a deal was won or lost. Nothing until the service has said it. */
export function ClosedSince({ deal: { closed_at, status } }: { deal: Pick<Deal, 'closed_at' | 'status'> }) {
  const t = useTexts()
  if (!closed_at) return null
  return (
    <span className="close-date closed-since numbers">
      {t.deals.statuses[status]} <Ago at={closed_at} />
    </span>
  )
}

/** The expected close date. Marked if it is past and the deal is open. */
export function CloseDate({ deal, brief = false }: Props) {
  const t = useTexts()
  const formats = useFormats()
  const { expected_close_date: date, status } = deal
  if (!date) return null
  const today = formats.today()
  const past = status === 'open' && date < today
  const short = brief && date.slice(0, 4) === today.slice(0, 4)
  const whole = formats.date(date)
  return (
    <time
      dateTime={date}
      className="close-date numbers"
      data-past={past || undefined}
      title={past ? `${t.deals.past}: ${whole}` : whole}
    >
      {past ? <ClockIcon size={12} /> : <CalendarIcon size={12} />}
      {past && <span className="unseen">{t.deals.past} </span>}
      {short ? formats.shortDate(date) : whole}
    </time>
  )
}
