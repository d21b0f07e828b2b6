import { Combobox, Loader, TextInput, useCombobox } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useTexts } from '../texts/texts.ts'

export type Choice = { id: number; name: string; detail?: string | null }

type Props = {
  label: string
  value: Choice | null
  onChange: (choice: Choice | null) => void
  /** What the service finds for a text; the key tells queries of different kinds apart. */
  kind: string
  search: (text: string) => Promise<Choice[]>
  error?: React.ReactNode
  autoFocus?: boolean
  /** The label is told, not shown: in a line that shows it already. */
  hideLabel?: boolean
  /** Without a frame of its own, as in the chip of a filter. */
  unstyled?: boolean
  placeholder?: string
  onBlur?: () => void
}

const typing_ms = 150

/** Chooses a record by writing a part of its name; leaving it empty chooses none. */
export function ReferenceInput(props: Props) {
  const { label, value, onChange, kind, search, error, autoFocus, hideLabel, placeholder, onBlur } = props
  const { unstyled } = props
  const t = useTexts()
  const combobox = useCombobox({ onDropdownClose: () => combobox.resetSelectedOption() })
  const [text, setText] = useState(value?.name ?? '')
  const [asked, setAsked] = useState('')
  useEffect(() => setText(value?.name ?? ''), [value])
  useEffect(() => {
    const timer = setTimeout(() => setAsked(text === value?.name ? '' : text.trim()), typing_ms)
    return () => clearTimeout(timer)
  }, [text, value])
  const { data, isFetching } = useQuery({
    queryKey: [kind, 'choices', asked],
    queryFn: () => search(asked),
    enabled: combobox.dropdownOpened,
    placeholderData: (before) => before,
  })
  // While the answer to what was written last is awaited, of the one before only what fits: Enter takes nothing else.
  const words = text.trim().toLowerCase().split(/\s+/)
  const awaited = text !== value?.name && text.trim() !== asked
  const fits = ({ name, detail }: Choice) =>
    words.every((word) => `${name} ${detail ?? ''}`.toLowerCase().includes(word))
  const choices = awaited ? data?.filter(fits) : data
  return (
    <Combobox
      store={combobox}
      onOptionSubmit={(id) => {
        const choice = data?.find((one) => String(one.id) === id) ?? null
        onChange(choice)
        setText(choice?.name ?? '')
        combobox.closeDropdown()
      }}
    >
      <Combobox.Target withExpandedAttribute>
        <TextInput
          role="combobox"
          aria-autocomplete="list"
          size={hideLabel ? 'xs' : 'sm'}
          variant={unstyled ? 'unstyled' : 'default'}
          label={hideLabel ? undefined : label}
          aria-label={hideLabel ? label : undefined}
          error={error}
          autoFocus={autoFocus}
          placeholder={placeholder}
          value={text}
          rightSection={isFetching ? <Loader size={12} /> : null}
          onFocus={() => combobox.openDropdown()}
          onClick={() => combobox.openDropdown()}
          onChange={(event) => {
            setText(event.currentTarget.value)
            combobox.openDropdown()
            combobox.updateSelectedOptionIndex()
          }}
          onBlur={() => {
            combobox.closeDropdown()
            if (text.trim() === '' && value) onChange(null)
            else setText(value?.name ?? '')
            onBlur?.()
          }}
        />
      </Combobox.Target>
      <Combobox.Dropdown>
        <Combobox.Options aria-label={label} mah={260} style={{ overflowY: 'auto' }}>
          {choices?.map(({ id, name, detail }) => (
            <Combobox.Option key={id} value={String(id)}>
              {name}
              {detail && <span className="field-none"> · {detail}</span>}
            </Combobox.Option>
          ))}
          {data?.length === 0 && !awaited && <Combobox.Empty>{t.app.palette_empty}</Combobox.Empty>}
        </Combobox.Options>
      </Combobox.Dropdown>
    </Combobox>
  )
}
