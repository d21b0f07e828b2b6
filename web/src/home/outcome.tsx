import { TextInput } from '@mantine/core'
import { CheckCircleFillIcon } from '@primer/octicons-react'
import { useRef, useState } from 'react'
import { type ListedActivity, useActivityActions } from '../activities/queries.ts'
import { isComposing } from '../app/composition.ts'
import { useFormats } from '../app/formats.ts'
import { instantOf } from '../app/zones.ts'
import { useTexts } from '../texts/texts.ts'
import { MomentInput } from '../ui/inputs.tsx'

type OutcomeProps = { activity: ListedActivity; onDone: (by_key: boolean) => void }

/**
 * Asks what came of an activity that was just completed, and what comes next. Enter saves both, Escape leaves them
 * empty.
 */
export function Outcome({ activity, onDone }: OutcomeProps) {
  const { home, activities, fields } = useTexts()
  const { zone } = useFormats()
  const { saveOutcome, plan } = useActivityActions()
  const [outcome, setOutcome] = useState(activity.outcome ?? '')
  const [next, setNext] = useState('')
  const due = useRef<string | null>(null)
  const ended = useRef(false)
  function end(saves: boolean, by_key: boolean) {
    if (ended.current) return
    ended.current = true
    if (saves && outcome.trim() !== (activity.outcome ?? '')) saveOutcome(activity, outcome.trim() || null)
    if (saves && next.trim()) plan(activity, next.trim(), due.current && instantOf(due.current, zone))
    onDone(by_key)
  }
  const text = { size: 'xs', maxLength: 255 } as const
  return (
    <li
      className="home-row home-outcome"
      onBlur={({ currentTarget, relatedTarget }) => {
        if (!currentTarget.contains(relatedTarget)) end(true, false)
      }}
      onKeyDown={(event) => {
        if (isComposing(event.nativeEvent) || (event.key !== 'Enter' && event.key !== 'Escape')) return
        // An invalid time says so, and is not saved.
        if (event.key === 'Enter' && event.isDefaultPrevented()) return
        event.preventDefault()
        event.stopPropagation()
        end(event.key === 'Enter', true)
      }}
    >
      <CheckCircleFillIcon className="home-won-sign" />
      <span className="home-row-two">
        <span className="home-row-name">{activity.subject}</span>
        <TextInput
          {...text}
          aria-label={home.outcome({ subject: activity.subject })}
          placeholder={home.outcome_hint}
          autoFocus
          value={outcome}
          onChange={(event) => setOutcome(event.currentTarget.value)}
        />
        <span className="home-next">
          <TextInput
            {...text}
            aria-label={activities.next_step}
            placeholder={activities.next_step}
            value={next}
            onChange={(event) => setNext(event.currentTarget.value)}
          />
          <MomentInput
            size="xs"
            aria-label={fields.due_at}
            onChange={(wall) => {
              due.current = wall
            }}
          />
        </span>
      </span>
    </li>
  )
}
