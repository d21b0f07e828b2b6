import { ActionIcon, TextInput, type TextInputProps } from '@mantine/core'
import { CalendarIcon } from '@primer/octicons-react'
import { useRef, useState } from 'react'
import { useTexts } from '../texts/texts.ts'
import { useUnread } from './unread.ts'
import './written-input.css'

type Value = string | number
export type WrittenProps<V extends Value> = Omit<TextInputProps, 'value' | 'onChange' | 'form'> & {
  value?: V | null
  /** The value, null for none, when one was written to its end or chosen, and it is another one. */
  onChange?: (value: V | null) => void
  /** Enter, the keys that save, and going on to something else: undefined when what is written is no value, which is said at the field. */
  onEnd?: (value: V | null | undefined, written: string) => void
}
type Props<V extends Value> = WrittenProps<V> & {
  /** The value that a text says; null when it says none. */
  read: (text: string) => V | null
  write: (value: V) => string
  /** What is said of a text that cannot be read. */
  wrong: string
  /** What the browser has to choose such a value. */
  picker?: 'date' | 'datetime-local'
}

/**
 * A value that is written as a text and read when it is written to its end. The browser's own inputs are not it: they take
 * the order and the signs of the browser's language, and make another value of the rest, or none.
 */
export function WrittenInput<V extends Value>(props: Props<V>) {
  const { value = null, onChange, onEnd, read, write, wrong, picker, error, ...input } = props
  const t = useTexts()
  const shown = value === null ? '' : write(value)
  const [text, setText] = useState(shown)
  const [before, setBefore] = useState(shown)
  const unread = useUnread()
  const browsers = useRef<HTMLInputElement>(null)
  function show(next: string) {
    setText(next)
    unread.setUnread(false)
  }
  // At once, so that nothing is written over that was typed meanwhile.
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
    // What nobody has touched is as it was, even when it cannot be read.
    const next = text === shown ? value : none ? null : read(text)
    const whole = next !== null || none
    if (whole) change(next)
    else unread.setUnread(true)
    onEnd?.(whole ? next : undefined, text)
    return whole
  }
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
        const ends = event.key === 'Enter' && !event.nativeEvent.isComposing
        // A form goes on with a whole value only.
        if ((saves || ends) && !end()) event.preventDefault()
      }}
    >
      <TextInput
        {...input}
        ref={unread.input}
        autoComplete="off"
        value={text}
        error={unread.unread ? wrong : error}
        onChange={(event) => show(event.currentTarget.value)}
        rightSection={
          picker && (
            <ActionIcon
              size="xs"
              variant="subtle"
              color="gray"
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
