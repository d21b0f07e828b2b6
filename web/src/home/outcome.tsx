import { TextInput } from '@mantine/core'
import { CheckCircleFillIcon } from '@primer/octicons-react'
import { useRef, useState } from 'react'
import { type ListedActivity, useActivityActions } from '../activities/queries.ts'
import { useTexts } from '../texts/texts.ts'

type OutcomeProps = { activity: ListedActivity; onDone: (by_key: boolean) => void }

/** Asks what came of an activity that was just completed. Enter saves the text, Escape leaves it empty. */
export function Outcome({ activity, onDone }: OutcomeProps) {
  const { home } = useTexts()
  const { saveOutcome } = useActivityActions()
  const [text, setText] = useState(activity.outcome ?? '')
  const ended = useRef(false)
  function end(saves: boolean, by_key: boolean) {
    if (ended.current) return
    ended.current = true
    if (saves && text.trim() !== (activity.outcome ?? '')) saveOutcome(activity, text.trim() || null)
    onDone(by_key)
  }
  return (
    <li className="home-row">
      <CheckCircleFillIcon className="home-won-sign" />
      <TextInput
        className="home-outcome"
        size="xs"
        aria-label={home.outcome({ subject: activity.subject })}
        placeholder={home.outcome_hint}
        maxLength={255}
        autoFocus
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onBlur={() => end(true, false)}
        onKeyDown={(event) => {
          if (event.nativeEvent.isComposing || (event.key !== 'Enter' && event.key !== 'Escape')) return
          event.preventDefault()
          event.stopPropagation()
          end(event.key === 'Enter', true)
        }}
      />
    </li>
  )
}
