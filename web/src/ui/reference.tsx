import { Combobox, Loader, TextInput, useCombobox } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { plainText } from '../app/plain-text.ts'
import { explain, showProblem } from '../app/problems.tsx'
import { useTexts } from '../texts/texts.ts'
import { useUnread } from './unread.ts'
import { visible } from './visible.ts'

export type Choice = { id: number; name: string; detail?: string | null }

type Props = {
  label: string
  value?: Choice | null
  onChange?: (choice: Choice | null) => void
  /** Finds records for a text. `kind` separates the cached answers of different kinds. */
  kind: string
  search: (text: string, signal?: AbortSignal) => Promise<Choice[]>
  /** Creates a record of the typed name, which is then chosen; no label if the name is not enough. */
  create?: { label: (name: string) => string | null; run: (name: string) => Promise<Choice> }
  error?: React.ReactNode
  autoFocus?: boolean
  /** The label is for screen readers only, in a line that already shows it. */
  hideLabel?: boolean
  /** The choices are part of the dialog around the field, so that a click on one does not close it. */
  inside?: boolean
  placeholder?: string
  /** `unread`: the text is not one of the choices. The field says so. */
  onBlur?: (unread: boolean) => void
}

const typing_ms = 150
const new_option = 'new'

/**
 * Chooses a record by a part of its name. Enter takes the first match; without one, it creates the record where that is
 * offered. An empty field chooses none.
 */
export function ReferenceInput(props: Props) {
  const {
    label,
    value = null,
    onChange,
    kind,
    search,
    error,
    autoFocus,
    hideLabel,
    placeholder,
    onBlur,
  } = props
  const { inside, create } = props
  const t = useTexts()
  const combobox = useCombobox({ onDropdownClose: () => combobox.resetSelectedOption() })
  const name = value?.name ?? ''
  const [text, setText] = useState(name)
  const [before, setBefore] = useState(name)
  const [asked, setAsked] = useState('')
  const { input, unread, setUnread } = useUnread()
  function show(next: string) {
    setText(next)
    setUnread(false)
  }
  // During rendering, so that text typed in between is not overwritten.
  if (before !== name) {
    setBefore(name)
    show(name)
  }
  // The search text; empty while the field shows the chosen record.
  const written = text === name ? '' : text.trim()
  useEffect(() => {
    const timer = setTimeout(() => setAsked(written), typing_ms)
    return () => clearTimeout(timer)
  }, [written])
  const found = useQuery({
    queryKey: [kind, 'choices', asked],
    queryFn: ({ signal }) => search(asked, signal),
    enabled: combobox.dropdownOpened,
    placeholderData: (before) => before,
  })
  const { data, isFetching } = found
  // While the answer is pending, show only earlier results that still match: Enter takes nothing else.
  const words = plainText(text).split(/\s+/)
  const awaited = written !== asked || found.isPlaceholderData || data === undefined
  const fits = ({ name, detail }: Choice) =>
    words.every((word) => plainText(`${name} ${detail ?? ''}`).includes(word))
  const choices = awaited ? data?.filter(fits) : data
  function choose(choice: Choice | null) {
    onChange?.(choice)
    show(choice?.name ?? '')
    combobox.closeDropdown()
  }
  const [creating, setCreating] = useState(false)
  const same = (one: Choice) => one.name.toLowerCase() === written.toLowerCase()
  const creates = create && written && !awaited && !data?.some(same) ? create : undefined
  const new_label = creates?.label(written)
  async function createNamed() {
    if (!creates || !new_label || creating) return
    setCreating(true)
    try {
      choose(await creates.run(written))
    } catch (failed) {
      showProblem(failed, t)
    } finally {
      setCreating(false)
    }
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: when other choices stand there
  useEffect(() => {
    if (written && (choices?.length || new_label)) combobox.selectFirstOption()
    else combobox.resetSelectedOption()
  }, [written, choices?.[0]?.id, new_label])
  return (
    <Combobox
      store={combobox}
      withinPortal={!inside}
      onOptionSubmit={(id) => {
        if (id === new_option) createNamed()
        else choose(data?.find((one) => String(one.id) === id) ?? null)
      }}
    >
      <Combobox.Target withExpandedAttribute>
        <TextInput
          ref={input}
          role="combobox"
          aria-autocomplete="list"
          size={hideLabel ? 'xs' : 'sm'}
          label={hideLabel ? undefined : label}
          aria-label={hideLabel ? label : undefined}
          error={unread ? t.app.choose_one : error}
          autoFocus={autoFocus}
          data-autofocus={autoFocus || undefined}
          placeholder={placeholder}
          value={text}
          rightSection={isFetching || creating ? <Loader size={12} /> : null}
          onFocus={({ currentTarget }) => {
            // Typing replaces the chosen record.
            currentTarget.select()
            combobox.openDropdown()
          }}
          onClick={() => combobox.openDropdown()}
          onChange={(event) => {
            show(event.currentTarget.value)
            combobox.openDropdown()
          }}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || !written) return
            // A form is not submitted while the text is not a choice.
            event.preventDefault()
            // The first match is marked a moment after it shows. Enter takes it in that moment, too.
            if (combobox.getSelectedOptionIndex() >= 0) return
            if (choices?.[0]) choose(choices[0])
            else createNamed()
          }}
          onBlur={() => {
            combobox.closeDropdown()
            if (written) setUnread(true)
            else if (text.trim() === '' && value) onChange?.(null)
            onBlur?.(written !== '')
          }}
        />
      </Combobox.Target>
      <Combobox.Dropdown>
        <Combobox.Options aria-label={label} mah={260} style={{ overflowY: 'auto' }}>
          {choices?.map(({ id, name, detail }) => (
            <Combobox.Option key={id} value={String(id)}>
              {visible(name)}
              {detail && <span className="soft"> · {visible(detail)}</span>}
            </Combobox.Option>
          ))}
          {new_label && <Combobox.Option value={new_option}>{new_label}</Combobox.Option>}
        </Combobox.Options>
        {data?.length === 0 && !awaited && !new_label && (
          <Combobox.Empty>{t.app.palette_empty}</Combobox.Empty>
        )}
        {found.error && !isFetching && (
          <Combobox.Empty role="alert" c="red">
            {explain(found.error, t)}
          </Combobox.Empty>
        )}
      </Combobox.Dropdown>
    </Combobox>
  )
}
