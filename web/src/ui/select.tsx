import { type ComboboxItem, Select as MantineSelect, type SelectProps } from '@mantine/core'
import { useRef, useState } from 'react'
import { isComposing } from '../app/composition.ts'
import { includesText } from '../app/plain-text.ts'

/** The options that a person can find. They have no groups. */
const itemsOf = (data: SelectProps['data'] = []): ComboboxItem[] =>
  data.flatMap((one) =>
    typeof one === 'string' ? { value: one, label: one } : 'value' in one ? (one as ComboboxItem) : [],
  )

/**
 * Mantine's choice. Typing marks the first match, which Enter takes, also before the list is drawn. A form is not submitted
 * while the text is not a choice.
 */
export function Select({ onKeyDown, onOptionSubmit, onBlur, ...props }: SelectProps) {
  const { searchable, data, value, onChange } = props
  const items = itemsOf(data)
  const labelOf = (id: string | null | undefined) => items.find((one) => one.value === id)?.label ?? ''
  const [text, setText] = useState(() => labelOf(value))
  // Since the last choice.
  const [typed, setTyped] = useState(false)
  const taken = useRef(false)
  const searched = searchable && typed && text.trim() !== ''
  function end() {
    setTyped(false)
    // Until the new value is there, which may stay the old one.
    setText(labelOf(value))
  }
  return (
    <MantineSelect
      {...props}
      searchValue={text}
      onSearchChange={setText}
      selectFirstOptionOnChange={searched}
      onInput={() => setTyped(true)}
      onOptionSubmit={(id) => {
        taken.current = true
        onOptionSubmit?.(id)
        end()
      }}
      onKeyDown={(event) => {
        onKeyDown?.(event)
        if (event.key !== 'Enter' || !searched || isComposing(event.nativeEvent)) return
        event.preventDefault()
        const list = document.getElementById(event.currentTarget.getAttribute('aria-controls') ?? '')
        const marked = list?.querySelector<HTMLElement>('[data-combobox-selected]')
        // Mantine takes a marked option only by a key with a code. Keys of a phone, and those that waited for the field, have none.
        // Mantine takes none, too, if the list has opened with this text.
        if (marked) {
          taken.current = false
          return queueMicrotask(() => taken.current || marked.click())
        }
        const first = items.find(({ label }) => includesText(label, text))
        if (!first) return
        end()
        onChange?.(first.value, first)
      }}
      onBlur={(event) => {
        setTyped(false)
        onBlur?.(event)
      }}
    />
  )
}
