import { UnstyledButton } from '@mantine/core'
import { CheckCircleFillIcon, CircleIcon } from '@primer/octicons-react'
import { useMay } from '../app/session.ts'
import { useTexts } from '../texts/texts.ts'
import { oneClick } from '../ui/one-press.ts'
import { type ListedActivity, useActivityActions } from './queries.ts'
import './activities.css'

/** Completes an activity with one click, or opens it again. */
export function CompleteCircle({ activity, onDone }: { activity: ListedActivity; onDone?: () => void }) {
  const t = useTexts()
  const may = useMay()('activities:write')
  const { complete, reopen } = useActivityActions()
  const done = Boolean(activity.completed_at)
  const label = done
    ? t.activities.reopen_one({ subject: activity.subject })
    : t.activities.complete_one({ subject: activity.subject })
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
      onClick={oneClick(() => (done ? reopen(activity) : complete([activity])).then(onDone))}
    >
      <Circle />
    </UnstyledButton>
  )
}
