import { Combobox, Loader, TextInput, useCombobox } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { isComposing } from '../app/composition.ts'
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

/** The records that match a text, asked for after a pause in typing. `awaited`: they are not yet those of the text. */
function useMatches({ kind, search }: Props, text: string, written: string, enabled: boolean) {
  const [asked, setAsked] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setAsked(written), typing_ms)
    return () => clearTimeout(timer)
  }, [written])
  const { data, isFetching, isPlaceholderData, error } = useQuery({
    queryKey: [kind, 'choices', asked],
    queryFn: ({ signal }) => search(asked, signal),
    enabled,
    placeholderData: (before) => before,
  })
  // While the answer is pending, show only earlier results that still match: Enter takes nothing else.
  const words = plainText(text).split(/\s+/)
  const awaited = written !== asked || isPlaceholderData || data === undefined
  const fits = ({ name, detail }: Choice) =>
    words.every((word) => plainText(`${name} ${detail ?? ''}`).includes(word))
  return { data, choices: awaited ? data?.filter(fits) : data, awaited, isFetching, failure: error }
}

/**
 * Chooses a record by a part of its name. Enter takes the first match, also before the answer comes. Without a match, it
 * creates the record where that is offered. An empty field chooses none.
 */
export function ReferenceInput(props: Props) {
  const { label, value = null, onChange, error, autoFocus, hideLabel, placeholder, onBlur } = props
  const { inside, create } = props
  const t = useTexts()
  const combobox = useCombobox({ onDropdownClose: () => combobox.resetSelectedOption() })
  const name = value?.name ?? ''
  const [text, setText] = useState(name)
  const [before, setBefore] = useState(name)
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
  const { data, choices, awaited, isFetching, failure } = useMatches(
    props,
    text,
    written,
    combobox.dropdownOpened,
  )
  function choose(choice: Choice | null) {
    onChange?.(choice)
    show(choice?.name ?? '')
    combobox.closeDropdown()
  }
  const [creating, setCreating] = useState(false)
  // The text that Enter was pressed for, before its answer came.
  const [entered, setEntered] = useState('')
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
  // biome-ignore lint/correctness/useExhaustiveDependencies: when the answer is there
  useEffect(() => {
    if (!entered || awaited) return
    setEntered('')
    if (entered === written) takeFirst()
  }, [entered, written, awaited])
  // Whether the mark was moved since the text was typed.
  const moved = useRef(false)
  // biome-ignore lint/correctness/useExhaustiveDependencies: when other choices stand there
  useEffect(() => {
    // A choice that was marked by an arrow key stays marked, in another place.
    if (moved.current) combobox.updateSelectedOptionIndex()
    else if (written && (choices?.length || new_label)) combobox.selectFirstOption()
    else combobox.resetSelectedOption()
  }, [written, choices?.map(({ id }) => id).join(), new_label])
  function takeFirst() {
    if (choices?.length) choose(choices[0] ?? null)
    else createNamed()
  }
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
            moved.current = false
            show(event.currentTarget.value)
            combobox.openDropdown()
          }}
          onKeyDown={(event) => {
            if (event.key === 'ArrowDown' || event.key === 'ArrowUp') moved.current = true
            if (event.key !== 'Enter' || !written || isComposing(event.nativeEvent)) return
            // A form is not submitted while the text is not a choice.
            event.preventDefault()
            // The mark comes a moment after the choices, and stays when the list closes. Without it, the combobox chooses none.
            const marked = combobox.getSelectedOptionIndex()
            combobox.resetSelectedOption()
            if (creating) return
            if (awaited && !choices?.length) {
              setEntered(written)
              combobox.openDropdown()
            } else if (new_label && marked === choices?.length) createNamed()
            else if (choices?.[marked]) choose(choices[marked])
            else takeFirst()
          }}
          onBlur={() => {
            combobox.closeDropdown()
            setEntered('')
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
        {failure && !isFetching && (
          <Combobox.Empty role="alert" c="red">
            {explain(failure, t)}
          </Combobox.Empty>
        )}
      </Combobox.Dropdown>
    </Combobox>
  )
}
