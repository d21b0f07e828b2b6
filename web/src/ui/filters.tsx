import { ActionIcon, Button, TextInput } from '@mantine/core'
import { FilterIcon, SearchIcon, XIcon } from '@primer/octicons-react'
import { useEffect, useRef, useState } from 'react'
import { holdKeys, useCommands } from '../app/commands.ts'
import { latePart } from '../app/late.ts'
import { matching } from '../app/matching.ts'
import { useTexts } from '../texts/texts.ts'
import { FilterSentence } from './filter-sentence.tsx'
import {
  type Condition,
  changeOf,
  conditionsOf,
  customName,
  endsOf,
  type FilterField,
  parametersOf,
} from './filter-value.ts'
import { focusBeside } from './focus.ts'
import type { ListView } from './list-view.ts'
import { PickDialog } from './pick-dialog.tsx'
import type { Choice } from './reference.tsx'
import './filters.css'
import { Popover } from './floating.tsx'

/** A filter of a list. Its conditions are in the address under its names. */
export type Filter = FilterField & {
  label: string
  options?: readonly { value: string; label: string }[]
  /** The words for a value, such as the name of a company for its id. */
  show?: (value: string) => React.ReactNode
  /** Finds the records to choose from. The id is the value. */
  reference?: { kind: string; search: (text: string) => Promise<Choice[]> }
  format?: 'money' | 'percent'
  /** The word between label and value, if it is not "is". */
  word?: string
  /** A custom field. */
  custom?: boolean
}

const editing = latePart(async () => (await import('./filter-editor.tsx')).FilterEditor)

const typing_ms = 200

/** A chip: a condition of a filter. A filter has up to two, its values and its range. */
type Shown = { key: string; filter: Filter; condition: Condition }

/** The conditions of a view, in the order of the address. */
export function shownFilters(view: Pick<ListView, 'filters'>, filters: readonly Filter[]): Shown[] {
  const order = Object.keys(view.filters)
  const found = filters.flatMap((filter) =>
    conditionsOf(filter, view.filters).map((condition, index) => ({
      key: `${filter.name} ${index}`,
      at: order.indexOf(Object.keys(parametersOf(filter, condition))[0] ?? ''),
      filter,
      condition,
    })),
  )
  return found.sort((a, b) => a.at - b.at)
}

type Props = {
  view: ListView
  filters: readonly Filter[]
  search?: boolean
  /** Whether a key that is typed names a custom field. */
  custom?: boolean
}

/**
 * The filters of a list: `line` is the search and the button that adds a filter, `chips` is the row of filters.
 * `/` focuses the search, `f` adds a filter.
 */
export function useListFilters({ view, filters, search = true, custom = false }: Props) {
  const t = useTexts()
  const [adding, setAdding] = useState(false)
  /** The chip whose editor is open. A chip without a condition is shown only then. */
  const [edited, setEdited] = useState<{ key: string; filter: Filter } | null>(null)
  const button = useRef<HTMLButtonElement>(null)
  const shown = shownFilters(view, filters)
  const add = () => setAdding(true)
  const can_add = custom || filters.length > 0
  useCommands([{ id: 'add-filter', label: t.filters.add, group: 'lists', keys: 'f', run: add }], can_add)
  useFilterKey(add, !search && can_add)

  const edit = (filter: Filter) => setEdited({ key: `${filter.name} 0`, filter })
  function close() {
    setEdited(null)
    // The chip of a filter without a value is gone.
    setTimeout(() => document.activeElement === document.body && button.current?.focus())
  }
  const fresh = edited && !shown.some(({ key }) => key === edited.key)
  const chips = fresh ? [...shown, { ...edited, condition: null }] : shown
  return {
    line: (
      <>
        {search && <SearchInput view={view} />}
        {can_add && (
          <Button ref={button} variant="default" leftSection={<FilterIcon size={14} />} onClick={add}>
            {t.app.add_filter}
          </Button>
        )}
        {adding && (
          <FieldDialog filters={filters} custom={custom} onPick={edit} onClose={() => setAdding(false)} />
        )}
      </>
    ),
    chips: chips.length > 0 && (
      <ul className="chips" aria-label={t.filters.chips}>
        {chips.map(({ key, filter, condition }) => (
          <Chip
            key={key}
            filter={filter}
            condition={condition}
            opened={edited?.key === key}
            onOpen={() => {
              // The editor has the focus a moment later.
              holdKeys()
              setEdited({ key, filter })
            }}
            onClose={close}
            onChange={view.filter}
          />
        ))}
        {view.filtered && (
          <li>
            <Button variant="subtle" color="gray" onClick={view.clearFilters}>
              {t.app.clear_filters}
            </Button>
          </li>
        )}
      </ul>
    ),
  }
}

type DialogProps = Pick<Props, 'filters' | 'custom'> & {
  onPick: (filter: Filter) => void
  onClose: () => void
}

/** Chooses the field of a new filter. */
function FieldDialog({ filters, custom, onPick, onClose }: DialogProps) {
  const t = useTexts()
  const [text, setText] = useState('')
  const key = text.trim()
  const entryOf = (filter: Filter) => ({
    id: filter.name,
    name: filter.label,
    run: () => onPick(filter),
    opens_field: true,
    icon: (
      <span className="palette-icon">
        <FilterIcon />
      </span>
    ),
  })
  const among = (those: readonly Filter[]) => matching(text, those.map(entryOf))
  const named = filters.some(({ name }) => name === customName(key))
  // A key without a definition.
  const other = custom && key && !named ? [otherFilter(key, t.filters.custom_field({ key }))] : []
  const groups = [
    { label: t.filters.fields, entries: among(filters.filter((one) => !one.custom)) },
    {
      label: t.filters.custom_fields,
      entries: [...among(filters.filter((one) => one.custom)), ...other.map(entryOf)],
    },
  ].filter(({ entries }) => entries.length)
  return (
    <PickDialog
      compact
      label={t.filters.add}
      placeholder={t.filters.find_field}
      text={text}
      onText={setText}
      groups={groups}
      said={groups.length ? '' : t.app.palette_empty}
      onClose={onClose}
    />
  )
}

/** The filter by a custom field that is not defined. */
export const otherFilter = (key: string, label = key): Filter => ({
  name: customName(key),
  label,
  nullable: true,
  custom: true,
  // Its definition may still be read, or may have been deleted.
  ends: endsOf(customName(key)),
})

type ChipProps = {
  filter: Filter
  condition: Condition | null
  opened: boolean
  onOpen: () => void
  onClose: () => void
  onChange: ListView['filter']
}

/** A filter as a sentence. A click edits it, Backspace removes it. */
function Chip({ filter, condition, opened, onOpen, onClose, onChange }: ChipProps) {
  const t = useTexts()
  const button = useRef<HTMLButtonElement>(null)
  const remove = () => onChange(changeOf(filter, condition, null))
  const FilterEditor = editing.usePart(opened, onClose)
  function close() {
    button.current?.focus()
    onClose()
  }
  return (
    <li ref={focusBeside} className="chip">
      <Popover
        // With its editor, which takes the focus.
        opened={opened && FilterEditor !== undefined}
        onChange={(open) => {
          if (open) return
          // Keeps a value that was typed, because an element that is removed is never left.
          if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
          onClose()
        }}
        position="bottom-start"
        width={280}
        trapFocus
        closeOnEscape={false}
        // Its name is not the sentence of the chip, which changes.
        withRoles={false}
        transitionProps={{ duration: 0 }}
      >
        <Popover.Target>
          <button
            ref={button}
            type="button"
            className="chip-open"
            aria-haspopup="dialog"
            aria-expanded={opened}
            onClick={() => (opened ? close() : onOpen())}
            onKeyDown={(event) => {
              if (event.key === 'Backspace' || event.key === 'Delete') remove()
            }}
          >
            <FilterSentence filter={filter} condition={condition} />
          </button>
        </Popover.Target>
        <Popover.Dropdown role="dialog" aria-label={t.filters.edit({ label: filter.label })}>
          {FilterEditor && (
            <FilterEditor filter={filter} condition={condition} onChange={onChange} onClose={close} />
          )}
        </Popover.Dropdown>
      </Popover>
      <ActionIcon
        size={24}
        aria-label={t.app.remove_filter({ name: filter.label })}
        onClick={() => (condition ? remove() : onClose())}
      >
        <XIcon size={12} />
      </ActionIcon>
    </li>
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
