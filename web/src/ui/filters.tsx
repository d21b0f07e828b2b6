import { ActionIcon, Button, Menu, Select, TextInput } from '@mantine/core'
import { FilterIcon, SearchIcon, XIcon } from '@primer/octicons-react'
import { useEffect, useRef, useState } from 'react'
import { useCommands } from '../app/commands.ts'
import { useTexts } from '../texts/texts.ts'
import { focusBeside } from './focus.ts'
import { DayInput, MomentInput, NumberInput } from './inputs.tsx'
import type { ListView } from './list-view.ts'
import { type Choice, ReferenceInput } from './reference.tsx'
import './filters.css'

/** A filter of a list. Its value is in the address under its name. */
export type Filter = {
  name: string
  label: string
  /** The choices. Left out: free text, a day, or a time (YYYY-MM-DDTHH:MM). */
  options?: { value: string; label: string }[]
  kind?: 'text' | 'number' | 'date' | 'moment'
  /** Its text may have several values, "not" and null (filter-value.ts). */
  many?: boolean
  /** Shows a value that is not an option, such as the name of a company for its id. */
  show?: (value: string) => React.ReactNode
  /** Finds the records to choose from. The id is the value; `show` shows the name. */
  reference?: { kind: string; search: (text: string) => Promise<Choice[]> }
  placeholder?: string
}

const typing_ms = 200
// A menu returns the focus to its button after it closes. The new chip takes the focus after that.
const focus_back_ms = 30

/**
 * The search of a list, its filters as chips, and the menu that adds one. `/` focuses the search, else the
 * menu.
 */
export function ListFilters({
  view,
  filters,
  search = true,
}: {
  view: ListView
  filters: Filter[]
  search?: boolean
}) {
  const t = useTexts()
  const [added, setAdded] = useState<string | null>(null)
  const shown = filters.filter(({ name }) => view.filters[name] || name === added)
  const others = filters.filter((filter) => !shown.includes(filter))
  const menu = useRef<HTMLButtonElement>(null)
  useFilterKey(() => menu.current?.click(), !search && others.length > 0)
  return (
    <>
      {search && <SearchInput view={view} />}
      {shown.map((filter) => (
        <Chip
          key={filter.name}
          filter={filter}
          value={view.filters[filter.name] ?? ''}
          fresh={filter.name === added}
          onChange={(value) => {
            setAdded(null)
            view.setFilter(filter.name, value)
          }}
          onEnd={() => setAdded(null)}
        />
      ))}
      {others.length > 0 && (
        <Menu position="bottom-start">
          <Menu.Target>
            <Button ref={menu} variant="default" leftSection={<FilterIcon size={14} />}>
              {t.app.add_filter}
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            {others.map(({ name, label }) => (
              <Menu.Item key={name} onClick={() => setTimeout(() => setAdded(name), focus_back_ms)}>
                {label}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      )}
      {view.filtered && (
        <Button variant="subtle" color="gray" onClick={view.clearFilters}>
          {t.app.clear_filters}
        </Button>
      )}
    </>
  )
}

function useFilterKey(run: () => void, enabled = true) {
  const label = useTexts().app.keys.filter
  useCommands([{ id: 'filter', label, group: 'lists', keys: '/', keys_only: true, run }], enabled)
}

function SearchInput({ view }: { view: ListView }) {
  const t = useTexts()
  const input = useRef<HTMLInputElement>(null)
  const [text, setText] = useState(view.search)
  const sent = useRef(view.search)
  // The address also changes by a saved view, or by Back and Forward.
  useEffect(() => {
    if (view.search !== sent.current) setText(view.search)
    sent.current = view.search
  }, [view.search])
  useEffect(() => {
    if (text === sent.current) return
    const timer = setTimeout(() => {
      sent.current = text
      view.setSearch(text)
    }, typing_ms)
    return () => clearTimeout(timer)
  }, [text, view])
  useFilterKey(() => input.current?.focus())
  return (
    <TextInput
      ref={input}
      className="search-input"
      size="xs"
      type="search"
      aria-label={t.app.search}
      placeholder={t.app.search}
      leftSection={<SearchIcon size={14} />}
      value={text}
      onChange={(event) => setText(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return
        if (text) setText('')
        else input.current?.blur()
      }}
    />
  )
}

type ChipProps = {
  filter: Filter
  value: string
  fresh: boolean
  onChange: (value: string | null) => void
  /** Ends a chip without a value. */
  onEnd: () => void
}

function Chip(props: ChipProps) {
  const { filter, onChange, onEnd } = props
  const t = useTexts()
  return (
    <span ref={focusBeside} className="chip">
      <OneValue {...props} />
      <ActionIcon
        size="xs"
        aria-label={t.app.remove_filter(filter.label)}
        onClick={() => {
          onChange(null)
          onEnd()
        }}
      >
        <XIcon size={12} />
      </ActionIcon>
    </span>
  )
}

/** The label and the value of a filter of one value, changed in place. */
function OneValue({ filter, value, fresh, onChange }: Omit<ChipProps, 'onEnd'>) {
  const t = useTexts()
  const { label, options, kind = 'text', show, reference, placeholder } = filter
  const WrittenInput = kind === 'date' ? DayInput : MomentInput
  return (
    <>
      <span className="soft">{kind === 'text' ? `${label} ${t.filters.is}` : label}</span>
      {value && show ? (
        <span className="chip-value">{show(value)}</span>
      ) : reference ? (
        <ReferenceInput
          {...reference}
          label={label}
          hideLabel
          unstyled
          autoFocus={fresh}
          value={null}
          onChange={(choice) => onChange(choice && String(choice.id))}
        />
      ) : options ? (
        <Select
          size="xs"
          variant="unstyled"
          aria-label={label}
          data={options}
          value={value || null}
          onChange={onChange}
          searchable={options.length > 8}
          defaultDropdownOpened={fresh}
          autoFocus={fresh}
          comboboxProps={{ width: 'max-content', position: 'bottom-start' }}
          w={130}
        />
      ) : kind === 'number' ? (
        <NumberInput
          size="xs"
          variant="unstyled"
          aria-label={label}
          inputMode="text"
          value={value ? Number(value) : null}
          onChange={(next) => onChange(next === null ? null : String(next))}
          autoFocus={fresh}
          w={90}
        />
      ) : kind === 'text' ? (
        <TextChip {...{ label, placeholder, value, fresh, onChange }} />
      ) : (
        <WrittenInput
          size="xs"
          variant="unstyled"
          aria-label={label}
          value={value || null}
          onChange={onChange}
          autoFocus={fresh}
          w={kind === 'date' ? 120 : 170}
        />
      )}
    </>
  )
}

type TextProps = Omit<ChipProps, 'filter' | 'onEnd'> & Pick<Filter, 'label' | 'placeholder'>

function TextChip({ label, placeholder, value, fresh, onChange }: TextProps) {
  const [text, setText] = useState(value)
  const [before, setBefore] = useState(value)
  // Back or a saved view may have changed the value in the address.
  if (before !== value) {
    setBefore(value)
    setText(value)
  }
  const done = () => text !== value && onChange(text.trim() || null)
  return (
    <TextInput
      size="xs"
      variant="unstyled"
      aria-label={label}
      placeholder={placeholder}
      value={text}
      autoFocus={fresh}
      onChange={(event) => setText(event.currentTarget.value)}
      onBlur={done}
      onKeyDown={(event) => event.key === 'Enter' && done()}
      w={110}
    />
  )
}
