import { ActionIcon, TextInput, type TextInputProps } from '@mantine/core'
import { CalendarIcon } from '@primer/octicons-react'
import { useRef, useState } from 'react'
import { isComposing } from '../app/composition.ts'
import { useTexts } from '../texts/texts.ts'
import { useUnread } from './unread.ts'
import './written-input.css'

const below: TextInputProps['inputWrapperOrder'] = ['label', 'input', 'description', 'error']

type Value = string | number
export type WrittenProps<V extends Value> = Omit<TextInputProps, 'value' | 'onChange' | 'form'> & {
  value?: V | null
  /** Called with a new value (null for none) when a complete one was typed or chosen. */
  onChange?: (value: V | null) => void
  /** The text of a draft, which may not be complete. */
  typed?: string
  /** Enter, Ctrl+Enter, or leaving the input. Undefined: the text is invalid, which the field says. */
  onEnd?: (value: V | null | undefined, written: string) => void
}
type Props<V extends Value> = WrittenProps<V> & {
  /** Parses a text; null if invalid. */
  read: (text: string) => V | null
  write: (value: V) => string
  /** The error for an invalid text. */
  wrong: string
  /** The type of the browser's own input, for its picker. */
  picker?: 'date' | 'datetime-local'
}

/**
 * A value that is typed as text and parsed when complete. The browser's own inputs use the browser's
 * language, and change or drop partial values.
 */
export function WrittenInput<V extends Value>(props: Props<V>) {
  const { value = null, onChange, onEnd, read, write, wrong, picker, error, typed, ...input } = props
  const t = useTexts()
  const shown = value === null ? '' : write(value)
  const [text, setText] = useState(typed ?? shown)
  const [before, setBefore] = useState(shown)
  const unread = useUnread()
  const browsers = useRef<HTMLInputElement>(null)
  function show(next: string) {
    setText(next)
    unread.setUnread(false)
  }
  // During rendering, so that text typed in between is not overwritten.
  if (before !== shown) {
    setBefore(shown)
    show(shown)
  }
  function change(next: V | null) {
    show(next === null ? '' : write(next))
    if (next !== value) onChange?.(next)
  }
  function end(): boolean {
    const none = text.trim() === ''
    // An untouched value stays, even if it cannot be parsed.
    const next = text === shown ? value : none ? null : read(text)
    const whole = next !== null || none
    if (whole) change(next)
    else unread.setUnread(true)
    onEnd?.(whole ? next : undefined, text)
    return whole
  }
  // Shows the meaning of words such as "next friday" while they are typed.
  const meant = picker && text !== shown ? read(text) : null
  const echo = meant === null || write(meant) === text ? undefined : write(meant)
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the focus may go from the input to the picker and back
    <div
      className="written-input"
      onBlur={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget)) end()
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') show(shown)
        const saves = event.key === 's' && (event.ctrlKey || event.metaKey)
        const ends = event.key === 'Enter' && !isComposing(event.nativeEvent)
        // A form is submitted with a complete value only.
        if ((saves || ends) && !end()) event.preventDefault()
      }}
    >
      <TextInput
        {...input}
        description={input.description ?? echo}
        {...(!input.description && { inputWrapperOrder: below })}
        ref={unread.input}
        autoComplete="off"
        value={text}
        error={unread.unread ? wrong : error}
        onChange={(event) => show(event.currentTarget.value)}
        rightSection={
          picker && (
            <ActionIcon
              size="xs"
              tabIndex={-1}
              aria-label={t.app.choose_day}
              // The focus stays in the input.
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => browsers.current?.showPicker()}
            >
              <CalendarIcon size={12} />
            </ActionIcon>
          )
        }
      />
      {picker && (
        <input
          ref={browsers}
          type={picker}
          className="written-picker"
          tabIndex={-1}
          aria-hidden
          value={read(text) ?? ''}
          onChange={(event) => change((event.currentTarget.value || null) as V | null)}
        />
      )}
    </div>
  )
}
