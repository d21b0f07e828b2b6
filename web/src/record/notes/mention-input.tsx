import { Combobox, useCombobox } from '@mantine/core'
import { type KeyboardEvent, type RefObject, useEffect, useId, useRef, useState } from 'react'
import { isComposing } from '../../app/composition.ts'
import { useTexts } from '../../texts/texts.ts'
import { GrowingTextarea, type GrowingTextareaProps } from '../../ui/growing-textarea.tsx'
import { visible } from '../../ui/visible.ts'
import './mentions.css'
import { useMentionable } from './mentionable.ts'
import { completed, mentionOf, offered, type Written, writtenAt } from './mentions.ts'

type Props = Omit<GrowingTextareaProps, 'value' | 'onChange' | 'ref'> & {
  value?: string
  onChange: (text: string) => void
  input?: RefObject<HTMLTextAreaElement | null>
}

/** A text of several lines. After `@` it offers the members, by the arrow keys and Enter or Tab. */
export function MentionInput({ value = '', onChange, input: given, onKeyDown, onBlur, ...more }: Props) {
  const t = useTexts()
  const own = useRef<HTMLTextAreaElement>(null)
  const input = given ?? own
  const members = useMentionable()
  const [written, setWritten] = useState<Written | null>(null)
  // The sign whose list was closed by Escape.
  const left = useRef<number | null>(null)
  const choices = written ? offered(members, written.query) : []
  const open = choices.length > 0
  const combobox = useCombobox({ opened: open })
  const list_id = useId()
  const [marked, setMarked] = useState(0)
  const caret = useRef<number | null>(null)
  // A completed text is shown first, and then the caret goes behind the mention.
  useEffect(() => {
    if (caret.current === null) return
    input.current?.setSelectionRange(caret.current, caret.current)
    caret.current = null
  })

  function look(area: HTMLTextAreaElement) {
    const found =
      area.selectionStart === area.selectionEnd ? writtenAt(area.value, area.selectionStart) : null
    if (found?.at !== left.current) left.current = null
    const next = left.current === null ? found : null
    if (next?.at === written?.at && next?.query === written?.query) return
    setWritten(next)
    setMarked(0)
  }
  function choose(id: string) {
    const member = members.find((one) => one.id === id)
    if (!member || !written) return
    const after = completed(value, written, mentionOf(member, members))
    caret.current = after.caret
    setWritten(null)
    onChange(after.text)
    input.current?.focus()
  }
  function onKey(event: KeyboardEvent<HTMLTextAreaElement>) {
    const { key, nativeEvent } = event
    const plain = !event.metaKey && !event.ctrlKey && !event.altKey && !event.shiftKey
    if (!open || !plain || isComposing(nativeEvent)) return onKeyDown?.(event)
    const chosen = choices[Math.min(marked, choices.length - 1)]
    const steps: Record<string, () => void> = {
      ArrowDown: () => setMarked((marked + 1) % choices.length),
      ArrowUp: () => setMarked((marked + choices.length - 1) % choices.length),
      Enter: () => chosen && choose(chosen.id),
      Tab: () => chosen && choose(chosen.id),
      Escape() {
        left.current = written?.at ?? null
        setWritten(null)
      },
    }
    const step = steps[key]
    if (!step) return onKeyDown?.(event)
    event.preventDefault()
    event.stopPropagation()
    step()
  }
  const option_id = (index: number) => `${list_id}-${index}`
  return (
    <Combobox
      store={combobox}
      onOptionSubmit={choose}
      position="bottom-start"
      width={320}
      keepMounted={false}
    >
      <Combobox.DropdownTarget>
        <GrowingTextarea
          {...more}
          ref={input}
          value={value}
          aria-autocomplete="list"
          aria-haspopup="listbox"
          aria-controls={open ? list_id : undefined}
          aria-activedescendant={open ? option_id(Math.min(marked, choices.length - 1)) : undefined}
          onChange={(event) => {
            onChange(event.currentTarget.value)
            look(event.currentTarget)
          }}
          onSelect={(event) => look(event.currentTarget)}
          onBlur={(event) => {
            setWritten(null)
            onBlur?.(event)
          }}
          // Escape closes the list, and not the dialog around it.
          data-mantine-stop-propagation={open || undefined}
          onKeyDown={onKey}
        />
      </Combobox.DropdownTarget>
      <span role="status" className="unseen">
        {open && t.record.mentionable({ count: choices.length })}
      </span>
      <Combobox.Dropdown>
        <Combobox.Options className="mentionable" id={list_id} aria-label={t.record.mention}>
          {choices.map(({ id, name, email }, index) => (
            <Combobox.Option
              key={id}
              id={option_id(index)}
              value={id}
              selected={index === marked}
              aria-selected={index === marked}
              onMouseEnter={() => setMarked(index)}
            >
              {visible(name)} <span className="soft">{visible(email)}</span>
            </Combobox.Option>
          ))}
        </Combobox.Options>
      </Combobox.Dropdown>
    </Combobox>
  )
}
