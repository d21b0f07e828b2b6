import { ActionIcon, Checkbox, NativeSelect, Radio, TextInput } from '@mantine/core'
import { XIcon } from '@primer/octicons-react'
import { useRef, useState } from 'react'
import { isComposing } from '../app/composition.ts'
import { useFormats } from '../app/formats.ts'
import { matching } from '../app/matching.ts'
import { addDays, isDay, wallOf } from '../app/zones.ts'
import { useTexts } from '../texts/texts.ts'
import { writeDay } from './day.ts'
import { conditionOf, type Draft, draftOf, type FilterOp, opsOf, withOp } from './filter-draft.ts'
import { useRelativeWords, useValueWords } from './filter-sentence.tsx'
import { type Condition, changeOf } from './filter-value.ts'
import type { Filter } from './filters.tsx'
import { DayInput, MomentInput, MoneyInput, NumberInput, useReadDay } from './inputs.tsx'
import type { ListView } from './list-view.ts'
import { readAmount, readNumber } from './number.ts'
import { ReferenceInput } from './reference.tsx'
import { readRelative, relativeForms, writeRelative } from './relative-days.ts'

type Props = {
  filter: Filter
  /** The condition when the editor opens. */
  condition: Condition | null
  onChange: ListView['filter']
  onClose: () => void
}

/**
 * Edits a filter: operator and values. Each choice changes the address at once. The address is read only when
 * the editor opens, so that the two do not change each other.
 */
export function FilterEditor({ filter, condition, onChange, onClose }: Props) {
  const [draft, setDraft] = useState(() => draftOf(filter, condition))
  const stored = useRef(condition)
  function change(next: Draft) {
    setDraft(next)
    const before = stored.current
    const after = conditionOf(next)
    if (JSON.stringify(before) === JSON.stringify(after)) return
    stored.current = after
    // Back leaves the filter, not each step of its editing.
    onChange(changeOf(filter, before, after), before !== null)
  }
  const { op } = draft
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys of its fields
    <div
      className="filter-editor"
      onKeyDown={(event) => {
        // The keys of the page do nothing here.
        event.stopPropagation()
        const ends = event.key === 'Enter' && event.target instanceof HTMLInputElement
        if (event.key === 'Escape' || (ends && !event.defaultPrevented && !isComposing(event.nativeEvent))) {
          event.preventDefault()
          onClose()
        }
      }}
    >
      <Operator filter={filter} op={op} onChange={(to) => change(withOp(draft, to))} />
      {(op === 'is' || op === 'not') && <Values key={op} filter={filter} draft={draft} onChange={change} />}
      {op === 'relative' && <RelativeDays filter={filter} draft={draft} onChange={change} />}
      {(op === 'from' || op === 'to' || op === 'between') && (
        <Range key={op} filter={filter} draft={draft} onChange={change} />
      )}
    </div>
  )
}

type OperatorProps = { filter: Filter; op: FilterOp; onChange: (op: FilterOp) => void }

function Operator({ filter, op, onChange }: OperatorProps) {
  const t = useTexts()
  const { is, not, empty, filled, from, until, before, at_least, at_most, between, relative } = t.filters
  const amount = filter.kind === 'number'
  const last = filter.kind === 'moment' ? until : before
  const words: Record<FilterOp, string> = {
    is: filter.word ?? is,
    not,
    empty,
    filled,
    between,
    relative,
    from: amount ? at_least : from,
    to: amount ? at_most : last,
  }
  const ops = opsOf(filter)
  const all = ops.includes(op) ? ops : [op, ...ops]
  if (all.length === 1)
    return (
      <div className="filter-op">
        {filter.label} {words[op]}
      </div>
    )
  return (
    <div className="filter-op">
      <span className="one-line">{filter.label}</span>
      <NativeSelect
        size="xs"
        aria-label={t.filters.operator({ label: filter.label })}
        data={all.map((value) => ({ value, label: words[value] }))}
        value={op}
        onChange={(event) => onChange(event.currentTarget.value as FilterOp)}
        data-autofocus={op === 'empty' || op === 'filled' || undefined}
      />
    </div>
  )
}

type ValuesProps = { filter: Filter; draft: Draft; onChange: (draft: Draft) => void }

/** The values of "is" and "is not". */
function Values({ filter, draft, onChange }: ValuesProps) {
  const { values } = draft
  const change = (next: Draft['values']) => onChange({ ...draft, values: next })
  function add(value: string) {
    if (filter.single) change([value])
    else if (!values.includes(value)) change([...values, value])
  }
  const remove = (value: string | null) => change(values.filter((one) => one !== value))
  if (filter.options) return <Choices filter={filter} values={values} add={add} remove={remove} />
  return (
    <>
      <ChosenValues filter={filter} values={values} remove={remove} />
      {filter.reference ? (
        <ReferenceInput
          // Another one can be chosen.
          key={values.length}
          {...filter.reference}
          label={filter.label}
          hideLabel
          inside
          autoFocus
          value={null}
          onChange={(choice) => choice && add(String(choice.id))}
        />
      ) : (
        <AddValue filter={filter} add={add} removeLast={() => change(values.slice(0, -1))} />
      )}
    </>
  )
}

type ValueActions = {
  filter: Filter
  values: Draft['values']
  add: (value: string) => void
  remove: (value: string | null) => void
}

function ChosenValues({ filter, values, remove }: Omit<ValueActions, 'add'>) {
  const t = useTexts()
  const wordsOf = useValueWords()
  if (!values.length) return null
  return (
    <ul className="filter-values">
      {values.map((value) => (
        <li key={value} className="filter-value">
          <span className="one-line">{wordsOf(filter, value)}</span>
          <ActionIcon
            size={24}
            aria-label={t.filters.remove_value}
            onClick={({ currentTarget }) => {
              currentTarget.closest('.filter-editor')?.querySelector('input')?.focus()
              remove(value)
            }}
          >
            <XIcon size={12} />
          </ActionIcon>
        </li>
      ))}
    </ul>
  )
}

// More choices need a search.
const most_seen = 8

/** The choices of a field. Typing finds one, arrows move, Space chooses, Enter ends. */
function Choices({ filter, values, add, remove }: ValueActions) {
  const t = useTexts()
  const wordsOf = useValueWords()
  const [text, setText] = useState('')
  const list = useRef<HTMLFieldSetElement>(null)
  const options = filter.options ?? []
  // Values that are not offered, such as "no value" among others, or a member who has left.
  const unknown = values.filter((value) => !options.some((option) => option.value === value))
  const all = [
    ...unknown.map((value) => ({ value, name: value ?? '', label: wordsOf(filter, value) })),
    ...options.map(({ value, label }) => ({ value, name: label, label })),
  ]
  const found = matching(text, all)
  const searched = all.length > most_seen
  const pick = (value: string | null) =>
    values.includes(value) && !filter.single ? remove(value) : value !== null && add(value)
  function move(step: number) {
    const inputs = [...(list.current?.querySelectorAll('input') ?? [])]
    const at = inputs.indexOf(document.activeElement as HTMLInputElement)
    inputs[at + step]?.focus()
  }
  const Input = filter.single ? Radio : Checkbox
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: arrows move between its fields
    <div
      className="filter-editor"
      onKeyDown={(event) => {
        const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
        if (
          step === undefined ||
          (filter.single && event.target !== event.currentTarget.querySelector('[type=search]'))
        )
          return
        event.preventDefault()
        move(step)
      }}
    >
      {searched && (
        <TextInput
          size="xs"
          type="search"
          aria-label={t.filters.find_value}
          placeholder={t.filters.find_value}
          data-autofocus
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            const first = found[0]
            if (event.key !== 'Enter' || !text || !first || isComposing(event.nativeEvent)) return
            event.preventDefault()
            pick(first.value)
            setText('')
          }}
        />
      )}
      <fieldset ref={list} className="filter-choices" aria-label={filter.label}>
        {found.map(({ value, label }, index) => (
          <Input
            key={value}
            size="xs"
            name={filter.single ? `filter-${filter.name}` : undefined}
            label={label}
            checked={values.includes(value)}
            onChange={() => pick(value)}
            data-autofocus={(!searched && index === 0) || undefined}
          />
        ))}
      </fieldset>
    </div>
  )
}

type AddProps = { filter: Filter; add: (value: string) => void; removeLast: () => void }

/** Adds a text, a number or a day by Enter. Backspace in the empty field removes the last value. */
function AddValue({ filter, add, removeLast }: AddProps) {
  const t = useTexts()
  const { locale, currency } = useFormats()
  const readTypedDay = useReadDay()
  const [text, setText] = useState('')
  const [wrong, setWrong] = useState<string | null>(null)
  const { kind = 'text', label, format } = filter
  function read(written: string): string | null {
    if (kind === 'day') return readTypedDay(written)
    if (format === 'money') return readAmount(written, locale, currency)?.toString() ?? null
    if (kind === 'number') return readNumber(written, locale)?.toString() ?? null
    return written
  }
  function end() {
    const written = text.trim()
    if (!written) return
    const value = read(written)
    if (value === null) {
      const form = kind === 'day' ? writeDay(t.app.day_letters, locale) : '1234.5'
      return setWrong(kind === 'day' ? t.app.no_day({ form }) : t.app.no_number({ form }))
    }
    setText('')
    add(value)
  }
  return (
    <TextInput
      size="xs"
      aria-label={t.filters.value({ label })}
      placeholder={kind === 'day' ? writeDay(t.app.day_letters, locale) : t.filters.add_value}
      data-autofocus
      autoComplete="off"
      value={text}
      error={wrong}
      onChange={(event) => {
        setWrong(null)
        setText(event.currentTarget.value)
      }}
      onBlur={end}
      onKeyDown={(event) => {
        if (isComposing(event.nativeEvent)) return
        if (event.key === 'Backspace' && !text) removeLast()
        if (event.key !== 'Enter' || !text.trim()) return
        event.preventDefault()
        end()
      }}
    />
  )
}

/** A word such as "this month", with a number if it counts days. */
function RelativeDays({ filter, draft, onChange }: ValuesProps) {
  const t = useTexts()
  const wordsOf = useRelativeWords()
  const { label, relative = true } = filter
  const { form, days } = readRelative(draft.word) ?? { form: 'this_month', days: null }
  const set = (form: string, days: number | null) => onChange({ ...draft, word: writeRelative(form, days) })
  return (
    <>
      <NativeSelect
        size="xs"
        aria-label={t.filters.value({ label })}
        data-autofocus
        data={relativeForms(relative).map((value) => ({ value, label: wordsOf(value, '…') }))}
        value={form}
        onChange={(event) => set(event.currentTarget.value, days)}
      />
      {days !== null && (
        <NumberInput
          size="xs"
          aria-label={t.filters.days}
          value={days}
          onChange={(next) =>
            Number.isInteger(next) && Number(next) >= 0 && Number(next) <= 9999 && set(form, Number(next))
          }
        />
      )}
    </>
  )
}

/** The ends of a range. The end of days that is shown alone is the day after the last one: before 1 December. */
function Range({ filter, draft, onChange }: ValuesProps) {
  const t = useTexts()
  const { zone } = useFormats()
  const { label, format } = filter
  const { op, from, to } = draft
  // The field of a range in the address may have no definition.
  const undefined_kind = isDay(from ?? to ?? '') ? 'day' : 'number'
  const kind = filter.kind ?? undefined_kind
  // An instant that somebody wrote into the address is shown as its day.
  const dayOf = (value: string | null) => value && (isDay(value) ? value : wallOf(value, zone).slice(0, 10))
  const set = (side: 'from' | 'to') => (value: string | number | null) =>
    onChange({ ...draft, [side]: value === null ? null : String(value) })
  function endInput(side: 'from' | 'to') {
    const value = draft[side]
    const name = side === 'from' ? t.filters.start({ label }) : t.filters.end({ label })
    const shared = { size: 'xs', 'aria-label': name } as const
    const first = { 'data-autofocus': side === 'from' || op === 'to' || undefined }
    if (kind === 'number') {
      const Input = format === 'money' ? MoneyInput : NumberInput
      const number = value === null ? null : Number(value)
      // The decimal keyboard of phones has no minus.
      return <Input {...shared} {...first} inputMode="text" value={number} onChange={set(side)} />
    }
    if (kind === 'moment') return <MomentInput {...shared} {...first} value={value} onChange={set(side)} />
    const day = dayOf(value)
    const alone = op === 'to' && side === 'to'
    return (
      <DayInput
        {...shared}
        {...first}
        {...(alone && { 'aria-label': `${label} ${t.filters.before}` })}
        value={day && alone ? addDays(day, 1) : day}
        onChange={(next) => set(side)(next && alone ? addDays(next, -1) : next)}
      />
    )
  }
  return (
    <div className={op === 'between' && kind !== 'moment' ? 'filter-ends' : 'filter-editor'}>
      {op !== 'to' && endInput('from')}
      {op !== 'from' && endInput('to')}
    </div>
  )
}
