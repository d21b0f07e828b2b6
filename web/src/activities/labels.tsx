import {
  AlertIcon,
  DeviceMobileIcon,
  type Icon,
  MailIcon,
  NoteIcon,
  PeopleIcon,
  TasklistIcon,
} from '@primer/octicons-react'
import type { Schemas } from '../api/client.ts'
import { useFormats } from '../app/formats.ts'
import { wallOf } from '../app/zones.ts'
import { useTexts } from '../texts/texts.ts'
import './activities.css'

export type ActivityType = Schemas['Activity']['type']

const icons: Record<ActivityType, Icon> = {
  call: DeviceMobileIcon,
  email: MailIcon,
  meeting: PeopleIcon,
  task: TasklistIcon,
  other: NoteIcon,
}

/** The type of an activity as an icon. */
export function ActivityIcon({ type, size = 14 }: { type: ActivityType; size?: number }) {
  const TypeIcon = icons[type]
  return <TypeIcon size={size} />
}

/** The type of an activity, as an icon and a word. */
export function TypeLabel({ type }: { type: ActivityType }) {
  const t = useTexts()
  return (
    <span className="activity-type">
      <ActivityIcon type={type} />
      {t.activities.types[type]}
    </span>
  )
}

type Timed = Pick<Schemas['ActivityOfList'], 'due_at' | 'completed_at'>

/** When an activity is due, without the year if it is the current one. An open activity that is overdue has a colour and a sign. */
export function Due({ activity: { due_at, completed_at } }: { activity: Timed }) {
  const t = useTexts()
  const formats = useFormats()
  if (!due_at) return null
  const past = !completed_at && Date.parse(due_at) < Date.now()
  const this_year = wallOf(due_at, formats.zone).slice(0, 4) === formats.today().slice(0, 4)
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
      {this_year ? formats.shortMoment(due_at) : formats.moment(due_at)}
    </time>
  )
}
