import { UnstyledButton } from '@mantine/core'
import {
  AlertIcon,
  CheckCircleFillIcon,
  CircleIcon,
  DeviceMobileIcon,
  type Icon,
  MailIcon,
  NoteIcon,
  PeopleIcon,
  TasklistIcon,
} from '@primer/octicons-react'
import { useFormats } from '../app/formats.ts'
import { useMay } from '../app/session.ts'
import { useTexts } from '../texts/texts.ts'
import { type ActivityType, type ListedActivity, useActivityActions } from './queries.ts'
import './activities.css'

const icons: Record<ActivityType, Icon> = {
  call: DeviceMobileIcon,
  email: MailIcon,
  meeting: PeopleIcon,
  task: TasklistIcon,
  other: NoteIcon,
}

/** What kind of activity it is, in a sign and a word. */
export function TypeLabel({ type }: { type: ActivityType }) {
  const t = useTexts()
  const TypeIcon = icons[type]
  return (
    <span className="activity-type">
      <TypeIcon size={14} />
      {t.activities.types[type]}
    </span>
  )
}

type Timed = Pick<ListedActivity, 'due_at' | 'completed_at'>

/** When it is due; what is past and not done says so in colour and with a sign. */
export function Due({ activity: { due_at, completed_at } }: { activity: Timed }) {
  const t = useTexts()
  const formats = useFormats()
  if (!due_at) return null
  const past = !completed_at && Date.parse(due_at) < Date.now()
  return (
    <time
      dateTime={due_at}
      title={`${formats.exact(due_at)} (${formats.relative(due_at)})`}
      className="activity-due numbers"
      data-past={past || undefined}
    >
      {past && (
        <>
          <AlertIcon size={12} />
          <span className="unseen">{t.activities.overdue} </span>
        </>
      )}
      {formats.moment(due_at)}
    </time>
  )
}

/** Completes an activity with one click, or opens it again. */
export function CompleteCircle({ activity, onDone }: { activity: ListedActivity; onDone?: () => void }) {
  const t = useTexts()
  const may = useMay()('activities:write')
  const { complete, reopen } = useActivityActions()
  const done = Boolean(activity.completed_at)
  const label = done ? t.activities.reopen_one(activity.subject) : t.activities.complete_one(activity.subject)
  const Circle = done ? CheckCircleFillIcon : CircleIcon
  if (!may)
    return (
      <span className="activity-circle" data-done={done || undefined}>
        <Circle aria-label={done ? t.activities.completed : undefined} />
      </span>
    )
  return (
    <UnstyledButton
      className="activity-circle"
      data-done={done || undefined}
      aria-label={label}
      title={done ? t.activities.reopen : t.activities.complete}
      onClick={() => (done ? reopen(activity) : complete([activity])).then(onDone)}
    >
      <Circle />
    </UnstyledButton>
  )
}
