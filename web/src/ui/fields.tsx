import { Loader, NumberInput, Select, Textarea, TextInput } from '@mantine/core'
import { CheckIcon } from '@primer/octicons-react'
import { useEffect, useId, useRef, useState } from 'react'
import { explain } from '../app/problems.tsx'
import { useTexts } from '../texts/texts.ts'
import { DayInput } from './day-input.tsx'
import { useFocusBack } from './focus.ts'
import { useUnsaved } from './unsaved.ts'
import './fields.css'

/** Of datetime-local, the value is what a clock on the wall shows: YYYY-MM-DDTHH:MM. */
export type FieldKind = 'text' | 'email' | 'tel' | 'url' | 'number' | 'date' | 'datetime-local' | 'long'
type Value = string | number | null

type Props = {
  label: string
  value: Value
  /** How the value reads; left out: as it is. */
  shown?: React.ReactNode
  kind?: FieldKind
  /** What may be chosen, in place of writing. */
  options?: { value: string; label: string }[]
  /** There is always a value, so that choosing offers no way to clear it. */
  required?: boolean
  /** Stores the value; throws what the service says. Null clears the field. Without it the field is read only. */
  onSave?: ((value: Value) => Promise<unknown>) | undefined
}

const saved_ms = 1500
// A year of fewer digits is one that is not written to its end.
const clock_limits = { min: '1000-01-01T00:00', max: '9999-12-31T23:59' }

/**
 * A fact of a record: label and value; a click edits it in place. Enter and leaving the field save, Escape reverts, a tick
 * tells when it is stored. What is refused stays in its field and is said below it; when the field goes away, in a toast.
 */
export function Field({ label, value, shown, kind = 'text', options, required = false, onSave }: Props) {
  const t = useTexts()
  const id = useId()
  const [editing, setEditing] = useState(false)
  const [draft, setDraft] = useState<Value>(value)
  const [state, setState] = useState<'rest' | 'saving' | 'saved'>('rest')
  const [problem, setProblem] = useState<string | null>(null)
  const button = useRef<HTMLButtonElement>(null)
  const reverted = useRef(false)
  const { lose, keep } = useUnsaved(label)
  useFocusBack(editing, button)

  function begin() {
    setDraft(value)
    setProblem(null)
    reverted.current = false
    setEditing(true)
  }
  function end() {
    setEditing(false)
    setProblem(null)
    keep()
  }
  function refuse(given: Value, error: unknown, why: string) {
    setProblem(why)
    lose(given, error, why)
  }
  async function save(given: Value) {
    const next = typeof given === 'string' && kind !== 'long' ? given.trim() : given
    const cleared = next === '' ? null : next
    if (reverted.current || state === 'saving') return
    if (cleared === value || (cleared === null && value === '')) return end()
    setState('saving')
    keep()
    try {
      await onSave?.(cleared)
      setState('saved')
      end()
    } catch (error) {
      setState('rest')
      refuse(cleared, error, explain(error, t))
    }
  }
  function saveWritten({ validity }: HTMLInputElement | HTMLTextAreaElement) {
    // What is written in part has no text there: to save that would clear the field.
    const whole = !validity.badInput && !validity.rangeUnderflow && !validity.rangeOverflow
    if (whole) save(draft)
    else if (!reverted.current) refuse(draft, null, t.app.field_problems.invalid_format)
  }
  useEffect(() => {
    if (state !== 'saved') return
    const timer = setTimeout(() => setState('rest'), saved_ms)
    return () => clearTimeout(timer)
  }, [state])

  const text = shown ?? (options?.find((option) => option.value === value)?.label || value)
  function onEscape(event: React.KeyboardEvent) {
    if (event.key !== 'Escape') return
    event.stopPropagation()
    reverted.current = true
    end()
  }
  type Written = HTMLInputElement & HTMLTextAreaElement
  const keys = {
    onKeyDown(event: React.KeyboardEvent<Written>) {
      onEscape(event)
      const enters = kind !== 'long' || event.metaKey || event.ctrlKey
      if (event.key === 'Enter' && enters && !event.nativeEvent.isComposing) {
        event.preventDefault()
        saveWritten(event.currentTarget)
      }
    },
    onBlur: (event: React.FocusEvent<Written>) => saveWritten(event.currentTarget),
  }
  const common = { size: 'xs', 'aria-labelledby': id, autoFocus: true, error: problem } as const
  return (
    <div className="field">
      <span className="field-label" id={id}>
        {label}
      </span>
      {/* The button's name is what it does and what is seen on it. */}
      <span id={`${id}-edit`} hidden>{`${label}: ${t.app.edit}`}</span>
      <div className="field-value">
        {!editing || !onSave ? (
          onSave ? (
            <button
              ref={button}
              type="button"
              className="field-button"
              id={`${id}-value`}
              aria-labelledby={`${id}-edit ${id}-value`}
              onClick={begin}
            >
              {text ?? <span className="field-none">–</span>}
            </button>
          ) : (
            <span className="field-text">{text ?? <span className="field-none">–</span>}</span>
          )
        ) : options ? (
          <Select
            {...common}
            data={options}
            value={draft === null ? null : String(draft)}
            clearable={!required}
            allowDeselect={!required}
            searchable={options.length > 8}
            defaultDropdownOpened
            onChange={(next) => {
              setDraft(next)
              save(next)
            }}
            onKeyDown={onEscape}
            onBlur={() => save(draft)}
          />
        ) : kind === 'long' ? (
          <Textarea
            {...common}
            {...keys}
            autosize
            minRows={2}
            maxRows={12}
            value={String(draft ?? '')}
            onChange={(event) => setDraft(event.currentTarget.value)}
          />
        ) : kind === 'number' ? (
          <NumberInput
            {...common}
            {...keys}
            hideControls
            value={draft ?? ''}
            onChange={(next) => setDraft(next === '' ? null : Number(next))}
          />
        ) : kind === 'date' ? (
          // biome-ignore lint/a11y/noStaticElementInteractions: Escape is heard on its way up from the input
          <div onKeyDown={onEscape}>
            <DayInput
              {...common}
              value={draft === null ? null : String(draft)}
              onDay={(day, end, written) => {
                if (day === undefined) return lose(written, null, t.app.field_problems.invalid_format)
                setDraft(day)
                if (end !== 'choice') save(day)
              }}
            />
          </div>
        ) : (
          <TextInput
            {...common}
            {...keys}
            type={kind}
            {...(kind === 'datetime-local' && clock_limits)}
            value={String(draft ?? '')}
            onChange={(event) => setDraft(event.currentTarget.value)}
          />
        )}
        <span className="field-state" role="status">
          {state === 'saving' && <Loader size={12} aria-label={t.app.loading} />}
          {state === 'saved' && <CheckIcon size={14} aria-label={t.app.saved} />}
        </span>
      </div>
    </div>
  )
}
