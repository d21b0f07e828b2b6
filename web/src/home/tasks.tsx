import { AlertIcon, CircleIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { type ListedActivity, useActivityActions } from '../activities/queries.ts'
import type { Search } from '../app/addresses.ts'
import { holdKeys } from '../app/commands.ts'
import { useFormats } from '../app/formats.ts'
import { latePart } from '../app/late.ts'
import { Link } from '../app/link.ts'
import { useMay } from '../app/session.ts'
import { RecordLink } from '../record/fields/linked.tsx'
import { OwnerAvatar } from '../record/fields/owner.tsx'
import { useTexts } from '../texts/texts.ts'
import { fullName } from '../ui/full-name.ts'
import { oneClick } from '../ui/one-press.ts'
import { Card } from './card.tsx'
import { mine } from './mine.ts'
import { taskCountsQuery, tasksQuery } from './queries.ts'

const outcome = latePart(async () => (await import('./outcome.tsx')).Outcome)

/** The place in the list of the activity that was completed last, until the person has said what came of it. */
type Done = { activity: ListedActivity; at: number }

/** Activities of the person that are overdue or due today. Enter on the circle completes one and asks for its outcome. */
export function Tasks() {
  const t = useTexts()
  const formats = useFormats()
  const { complete } = useActivityActions()
  const may_complete = useMay()('activities:write')
  const list = useRef<HTMLUListElement>(null)
  const [done, setDone] = useState<Done | null>(null)
  const left_at = useRef<number | null>(null)
  const { data, error, refetch } = useQuery(tasksQuery(formats.today(), formats.zone))
  // A completed task goes at once. Undo or an error brings it back.
  const tasks = data?.data.filter(({ completed_at }) => !completed_at)
  const asked = done && !tasks?.some(({ id }) => id === done.activity.id) ? done : null
  const Outcome = outcome.usePart(asked !== null, () => setDone(null))
  // Focus the task in the place of the one that was completed.
  useEffect(() => {
    if (done || left_at.current === null) return
    const buttons = [...(list.current?.querySelectorAll<HTMLElement>('.home-complete') ?? [])]
    buttons[Math.min(left_at.current, buttons.length - 1)]?.focus()
    left_at.current = null
  }, [done])

  const rows = (tasks ?? []).map((activity, index) => (
    <li key={activity.id} className="home-row">
      {may_complete && (
        <button
          type="button"
          className="home-complete icon-button"
          aria-label={t.activities.complete_one({ subject: activity.subject })}
          title={t.activities.complete_one({ subject: activity.subject })}
          onClick={oneClick(() => {
            // The field for the outcome may open later: its program may still have to load.
            const release = holdKeys()
            setDone({ activity, at: index })
            complete([activity]).then((failed) => failed.length && release())
          })}
        >
          <CircleIcon />
        </button>
      )}
      <span className="home-row-two">
        <Link to={`/activities/${activity.id}`} className="home-row-name">
          {activity.subject}
        </Link>
        <With activity={activity} />
      </span>
      <OwnerAvatar kind="activities" id={activity.owner_id} />
      <Due at={activity.due_at} />
    </li>
  ))
  if (asked && Outcome)
    rows.splice(
      asked.at,
      0,
      <Outcome
        key={asked.activity.id}
        activity={asked.activity}
        onDone={(by_key) => {
          left_at.current = by_key ? asked.at : null
          setDone(null)
        }}
      />,
    )

  return (
    <Card
      title={t.home.today}
      area="tasks"
      waiting={!data}
      error={error}
      onRetry={refetch}
      more={{ to: '/activities', label: t.home.all_activities }}
      beside={<Counts />}
    >
      {!rows.length && <p className="hint">{t.home.nothing_due}</p>}
      <ul ref={list}>{rows}</ul>
    </Card>
  )
}

/** How many of the person's activities are overdue and due today, each with a link to them. */
function Counts() {
  const { home } = useTexts()
  const formats = useFormats()
  const { data } = useQuery({ ...taskCountsQuery(formats.zone), enabled: useMay()('reports:read') })
  if (!data) return null
  const today = formats.today()
  const link = (count: number, text: (values: { n: number }) => string, filters: Search<'/activities'>) =>
    count > 0 && (
      <Link to="/activities" search={{ show: 'all', owner_id: mine, ...filters }}>
        {text({ n: count })}
      </Link>
    )
  return (
    <>
      {link(data.overdue_count, home.overdue_count, { status: 'overdue' })}{' '}
      {link(data.today_count, home.today_count, { status: 'open', due_from: today, due_to: today })}
    </>
  )
}

/** Whom an activity is about. */
function With({ activity: { contact, company, deal } }: { activity: ListedActivity }) {
  if (!contact && !company && !deal) return null
  return (
    <span className="hint home-row-below home-row-names">
      {contact && <RecordLink kind="contacts" id={contact.id} name={fullName(contact)} />}
      {company && <RecordLink kind="companies" {...company} />}
      {deal && <RecordLink kind="deals" {...deal} />}
    </span>
  )
}

function Due({ at }: { at: string | null }) {
  const { home } = useTexts()
  const formats = useFormats()
  if (!at) return null
  const overdue = Date.parse(at) < Date.now()
  return (
    <time dateTime={at} title={formats.exact(at)} className="home-row-side numbers" data-overdue={overdue}>
      {overdue && (
        <>
          <AlertIcon size={12} />
          <span className="unseen"> {home.overdue}, </span>
        </>
      )}
      {overdue ? formats.relative(at) : formats.time(at)}
    </time>
  )
}
