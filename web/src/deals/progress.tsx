import { AlertIcon, HourglassIcon } from '@primer/octicons-react'
import { ActivityIcon } from '../activities/labels.tsx'
import { useFormats } from '../app/formats.ts'
import { Link } from '../app/link.ts'
import { wallOf } from '../app/zones.ts'
import { useTexts } from '../texts/texts.ts'
import type { Deal } from './deals.ts'
import { daysInStage, isStale } from './staleness.ts'
import './progress.css'

type Props = { deal: Pick<Deal, 'next_activity' | 'stage' | 'stage_since' | 'status'> }

/** The open activity that is due first. `brief` is for a card, which is a link itself. */
export function NextStep({ deal, brief = false }: { deal: Omit<Props['deal'], 'stage'>; brief?: boolean }) {
  const t = useTexts()
  const formats = useFormats()
  const { next_activity: next, status } = deal
  if (next === undefined || (next === null && status !== 'open')) return null
  if (next === null)
    return (
      <span className="next-step">
        <span className="one-line">{t.deals.no_next_step}</span>
      </span>
    )
  const { id, type, subject, due_at } = next
  const past = due_at !== null && Date.parse(due_at) < Date.now()
  const due = due_at && formats.shortDate(wallOf(due_at, formats.zone).slice(0, 10))
  return (
    <span className="next-step" title={due_at ? `${subject}, ${formats.exact(due_at)}` : subject}>
      {past ? <AlertIcon size={12} /> : <ActivityIcon type={type} size={12} />}
      {past && <span className="unseen">{t.activities.overdue} </span>}
      {brief ? (
        <span className="one-line">{subject}</span>
      ) : (
        <Link to={`/activities/${id}`} className="one-line">
          {subject}
        </Link>
      )}
      {due && (
        <span className="next-step-due numbers" data-past={past || undefined}>
          {due}
        </span>
      )}
    </span>
  )
}

/** The days since the deal entered its stage. A stale deal has a sign. */
export function DaysInStage({ deal }: Props) {
  const t = useTexts()
  const { stage_since } = deal
  if (!stage_since) return null
  const days = daysInStage(stage_since, Date.now())
  const stale = isStale(deal, Date.now())
  const whole = t.deals.days_in_stage({ n: days })
  return (
    <time
      dateTime={stage_since}
      className="days-in-stage numbers"
      data-stale={stale || undefined}
      title={stale ? `${t.deals.stale}: ${whole}` : whole}
    >
      {stale && <HourglassIcon size={12} />}
      <span aria-hidden>{t.deals.days_short({ n: days })}</span>
      <span className="unseen">
        {stale && `${t.deals.stale}: `}
        {whole}
      </span>
    </time>
  )
}
