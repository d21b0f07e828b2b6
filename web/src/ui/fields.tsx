import { Loader, Select, Textarea, TextInput } from '@mantine/core'
import { CheckIcon } from '@primer/octicons-react'
import { useEffect, useId, useRef, useState } from 'react'
import { useFormats } from '../app/formats.ts'
import { explain } from '../app/problems.tsx'
import { useTexts } from '../texts/texts.ts'
import { useFocusBack } from './focus.ts'
import { DayInput, MomentInput, NumberInput } from './inputs.tsx'
import { writeNumber } from './number.ts'
import { useUnsaved } from './unsaved.ts'
import './fields.css'

/** Of a moment, the value is what a clock on the wall shows: YYYY-MM-DDTHH:MM. */
export type FieldKind = 'text' | 'email' | 'tel' | 'url' | 'number' | 'date' | 'moment' | 'long'
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

/**
 * A fact of a record: label and value; a click edits it in place. Enter and leaving the field save, Escape reverts, a tick
 * tells when it is stored. What is refused stays in its field and is said below it; when the field goes away, in a toast.
 */
export function Field({ label, value, shown, kind = 'text', options, required = false, onSave }: Props) {
  const t = useTexts()
  const { locale } = useFormats()
  const id = useId()
  const [editing, setEditing] = useState(false)
  const [draft, setDraft] = useState<Value>(value)
  const [state, setState] = useState<'rest' | 'saving' | 'saved'>('rest')
  const [problem, setProblem] = useState<string | null>(null)
  const button = useRef<HTMLButtonElement>(null)
  const reverted = useRef(false)
  // What is to be stored, what is being stored, and whether something was written since that was sent.
  const wanted = useRef<Value>(value)
  // What the edit began with: somebody else may have stored another value since, which an untouched field leaves as it is.
  const began = useRef<Value>(value)
  const saving = useRef(false)
  const written = useRef(false)
  const unsaved = editing && !saving.current && (draft ?? '') !== (began.current ?? '')
  const { lose, keep } = useUnsaved(label, unsaved ? draft : undefined)
  useFocusBack(editing, button)

  function begin() {
    began.current = saving.current ? wanted.current : value
    setDraft(began.current)
    setProblem(null)
    reverted.current = false
    written.current = true
    setEditing(true)
  }
  function end() {
    setEditing(false)
    setProblem(null)
    keep()
  }
  async function save(given: Value) {
    if (reverted.current) return
    const next = typeof given === 'string' && kind !== 'long' ? given.trim() : given
    wanted.current = next === '' ? null : next
    // It is stored after what is being stored.
    if (saving.current) return
    let stored = value === '' ? null : value
    const untouched = wanted.current === (began.current === '' ? null : began.current)
    if (untouched || wanted.current === stored) return end()
    saving.current = true
    setState('saving')
    keep()
    try {
      while (wanted.current !== stored) {
        const sent = wanted.current
        written.current = false
        await onSave?.(sent)
        stored = sent
        began.current = sent
      }
      setState('saved')
      setProblem(null)
      // Else whoever edits has gone on writing.
      if (!written.current) end()
    } catch (error) {
      setState('rest')
      const why = explain(error, t)
      setProblem(why)
      lose(wanted.current, error, why)
    } finally {
      saving.current = false
    }
  }
  useEffect(() => {
    if (state !== 'saved') return
    const timer = setTimeout(() => setState('rest'), saved_ms)
    return () => clearTimeout(timer)
  }, [state])

  const plain = typeof value === 'number' ? writeNumber(value, locale) : value
  const text = shown ?? (options?.find((option) => option.value === value)?.label || plain)
  function onEscape(event: React.KeyboardEvent) {
    if (event.key !== 'Escape') return
    event.stopPropagation()
    reverted.current = true
    end()
  }
  const keys = {
    onKeyDown(event: React.KeyboardEvent) {
      onEscape(event)
      const enters = kind !== 'long' || event.metaKey || event.ctrlKey
      if (event.key === 'Enter' && enters && !event.nativeEvent.isComposing) {
        event.preventDefault()
        save(draft)
      }
    },
    onBlur: () => save(draft),
  }
  const common = { size: 'xs', 'aria-labelledby': id, autoFocus: true, error: problem } as const
  const ending = {
    onChange: setDraft,
    onEnd(next: Value | undefined, text: string) {
      if (next === undefined) lose(text, null, t.app.field_problems.invalid_format)
      else save(next)
    },
  }
  const WrittenInput = kind === 'date' ? DayInput : MomentInput
  return (
    <div className="field">
      <span className="field-label" id={id}>
        {label}
      </span>
      {/* The button's name is what it does and what is seen on it. */}
      <span id={`${id}-edit`} hidden>{`${label}: ${t.app.edit}`}</span>
      <div
        className="field-value"
        onInput={() => {
          written.current = true
        }}
      >
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
        ) : kind === 'number' || kind === 'date' || kind === 'moment' ? (
          // biome-ignore lint/a11y/noStaticElementInteractions: keys are heard on their way up from the input
          <div
            onKeyDown={(event) => {
              onEscape(event)
              // Enter gives the focus back to the button, which the same key press would click.
              if (event.key === 'Enter') event.preventDefault()
            }}
          >
            {kind === 'number' ? (
              <NumberInput {...common} {...ending} value={draft as number | null} />
            ) : (
              <WrittenInput {...common} {...ending} value={draft as string | null} />
            )}
          </div>
        ) : (
          <TextInput
            {...common}
            {...keys}
            type={kind}
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
