import { ActionIcon, TextInput } from '@mantine/core'
import { CalendarIcon } from '@primer/octicons-react'
import { useEffect, useRef, useState } from 'react'
import { useFormats } from '../app/formats.ts'
import { useTexts } from '../texts/texts.ts'
import { readDay, writeDay } from './day.ts'
import './day-input.css'

/** What ended the writing: Enter, going on to something else, or a choice in the calendar, after which the focus stays. */
export type DayEnd = 'enter' | 'leave' | 'choice'

type Props = {
  /** YYYY-MM-DD. */
  value: string | null
  /** The day that was written, null for none, undefined when it is no whole day, which is said at the field. */
  onDay: (day: string | null | undefined, end: DayEnd, written: string) => void
  label?: string
  error?: React.ReactNode
  size?: 'xs' | 'sm'
  unstyled?: boolean
  autoFocus?: boolean
  'aria-label'?: string
  'aria-labelledby'?: string
}

/**
 * A day that is written as the reader's locale has it, or year first, or chosen in the browser's own calendar. The browser's
 * own input for writing is not it: that one takes the order of the browser's language, and makes another day of the rest.
 */
export function DayInput({ value, onDay, error, unstyled, ...input }: Props) {
  const t = useTexts()
  const { locale } = useFormats()
  const shown = value ? writeDay(value, locale) : ''
  const [text, setText] = useState(shown)
  const [unread, setUnread] = useState(false)
  const calendar = useRef<HTMLInputElement>(null)
  useEffect(() => {
    setText(shown)
    setUnread(false)
  }, [shown])
  const form = writeDay(t.app.day_letters, locale)

  function end(how: DayEnd): boolean {
    // What nobody has touched is as it was, even when it cannot be read.
    const day = text === shown ? value : text.trim() ? readDay(text, locale) : null
    const whole = day !== null || text.trim() === ''
    setUnread(!whole)
    if (whole) setText(day ? writeDay(day, locale) : '')
    onDay(whole ? day : undefined, how, text)
    return whole
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the focus may go from the input to the calendar and back
    <div
      className="day-input"
      onBlur={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget)) end('leave')
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') {
          setText(shown)
          setUnread(false)
        }
        // A form goes on with a whole day only.
        if (event.key === 'Enter' && !event.nativeEvent.isComposing && !end('enter')) event.preventDefault()
      }}
    >
      <TextInput
        {...input}
        variant={unstyled ? 'unstyled' : 'default'}
        autoComplete="off"
        placeholder={form}
        value={text}
        error={unread ? t.app.no_day(form) : error}
        onChange={(event) => {
          setText(event.currentTarget.value)
          setUnread(false)
        }}
        rightSection={
          <ActionIcon
            size="xs"
            variant="subtle"
            color="gray"
            tabIndex={-1}
            aria-label={t.app.choose_day}
            // The focus stays in the input.
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => calendar.current?.showPicker()}
          >
            <CalendarIcon size={12} />
          </ActionIcon>
        }
      />
      <input
        ref={calendar}
        type="date"
        className="day-calendar"
        tabIndex={-1}
        aria-hidden
        value={readDay(text, locale) ?? ''}
        onChange={(event) => {
          const day = event.currentTarget.value || null
          setText(day ? writeDay(day, locale) : '')
          setUnread(false)
          onDay(day, 'choice', text)
        }}
      />
    </div>
  )
}
