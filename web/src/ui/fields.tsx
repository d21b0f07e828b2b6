import { Loader } from '@mantine/core'
import { CheckIcon } from '@primer/octicons-react'
import { type ComponentType, useEffect, useId, useRef, useState } from 'react'
import { holdKeys } from '../app/commands.ts'
import { isComposing } from '../app/composition.ts'
import { useFormats } from '../app/formats.ts'
import { latePart } from '../app/late.ts'
import { explain } from '../app/problems.tsx'
import { useTexts } from '../texts/texts.ts'
import { DraftNote } from './draft-note.tsx'
import { useFieldDraft } from './field-draft.ts'
import { useFocusBack } from './focus.ts'
import type { GrowingTextareaProps } from './growing-textarea.tsx'
import { writeNumber } from './number.ts'
import { useUnsaved } from './unsaved.ts'
import { Money } from './values.tsx'
import { visible } from './visible.ts'
import './fields.css'

/** The value of a moment is a local time: YYYY-MM-DDTHH:MM. */
export type FieldKind = 'text' | 'email' | 'tel' | 'url' | 'number' | 'money' | 'date' | 'moment' | 'long'
export type Value = string | number | null
/** The editor of a long text. */
export type LongInput = ComponentType<
  Omit<GrowingTextareaProps, 'value' | 'onChange' | 'ref'> & {
    value: string
    onChange: (text: string) => void
  }
>

type FieldLink = { href: string; label: string; icon: React.ReactNode; target?: string; rel?: string }

type Props = {
  label: string
  value: Value
  /** The name of its draft within the record. Left out: an edit does not survive a reload. */
  name?: string | undefined
  /** A link beside the value, such as one that calls a number. */
  link?: FieldLink | undefined
  /** How to show the value. Left out: as its kind says. */
  shown?: React.ReactNode
  kind?: FieldKind
  /** Left out: a text area. */
  Input?: LongInput
  /** The choices, instead of free text. */
  options?: { value: string; label: string }[]
  /** Whether typing filters the choices. Left out: if there are more than eight. */
  searchable?: boolean
  /** The field cannot be cleared. */
  required?: boolean
  /**
   * Stores the value; throws the service's error. Null clears the field. Without it the field is read-only.
   */
  onSave?: ((value: Value) => Promise<unknown>) | undefined
  /** Below the value, also while it is typed. */
  below?: ((value: Value) => React.ReactNode) | undefined
}

const editor = latePart(async () => (await import('./field-editor.tsx')).FieldEditor)

const saved_ms = 1500

/** The edit of a field: what is typed, what is stored, and what the keys do. */
function useFieldEdit({ label, value, kind = 'text', options, onSave, name }: Props) {
  const t = useTexts()
  const kept = useFieldDraft(onSave && !options ? name : undefined, value)
  const [editing, setEditing] = useState(kept.found !== null)
  const [draft, setDraft] = useState<Value>(kept.found ? kept.found.value : value)
  const [state, setState] = useState<'rest' | 'saving' | 'saved'>('rest')
  const [problem, setProblem] = useState<string | null>(null)
  const FieldEditor = editor.usePart(editing, end, onSave !== undefined)
  const button = useRef<HTMLButtonElement>(null)
  const reverted = useRef(false)
  // The value to store, whether a store is under way, and whether text was typed since it was sent.
  const wanted = useRef<Value>(value)
  // The value when the edit started. An untouched field must not overwrite a value that another person has
  // stored since.
  const began = useRef<Value>(value)
  // That of the record as it was when the edit began.
  const store = useRef(onSave)
  const saving = useRef(false)
  const written = useRef(false)
  const by_text = kind === 'number' || kind === 'money' || kind === 'date' || kind === 'moment'
  useEffect(() => {
    // Values that are written as text are kept as they are typed.
    if (editing && !by_text) kept.keep(draft, began.current ?? null)
  }, [editing, by_text, draft, kept.keep])
  const unsaved = editing && !saving.current && (draft ?? '') !== (began.current ?? '')
  const { lose, keep } = useUnsaved(label, unsaved ? draft : undefined)
  useFocusBack(editing, button)

  function begin() {
    if (!saving.current) store.current = onSave
    began.current = saving.current ? wanted.current : value
    setDraft(began.current)
    setProblem(null)
    reverted.current = false
    written.current = true
    if (!editor.now()) holdKeys()
    setEditing(true)
  }
  function end() {
    setEditing(false)
    kept.discard()
    setProblem(null)
    keep()
  }
  async function save(given: Value) {
    if (reverted.current) return
    const next = typeof given === 'string' && kind !== 'long' ? given.trim() : given
    wanted.current = next === '' ? null : next
    // The running store continues with this value.
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
        await store.current?.(sent)
        stored = sent
        began.current = sent
      }
      setState('saved')
      setProblem(null)
      // Otherwise the person is still typing.
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

  function onEscape(event: React.KeyboardEvent) {
    if (event.key !== 'Escape') return
    event.stopPropagation()
    revert()
  }
  const keys = {
    onKeyDown(event: React.KeyboardEvent) {
      onEscape(event)
      const enters = kind !== 'long' || event.metaKey || event.ctrlKey
      if (event.key === 'Enter' && enters && !isComposing(event.nativeEvent)) {
        event.preventDefault()
        save(draft)
      }
    },
    onBlur: ({ relatedTarget }: React.FocusEvent) => {
      if (!relatedTarget?.closest('[data-discard]')) save(draft)
    },
  }
  const ending = {
    onChange: setDraft,
    ...(kept.found?.text !== undefined && { typed: kept.found.text }),
    onEnd(next: Value | undefined, text: string) {
      if (next === undefined) lose(text, null, t.app.field_problems.invalid_format)
      else save(next)
    },
  }
  function onInput({ target }: { target: EventTarget }) {
    written.current = true
    if (by_text && editing) kept.keepText((target as HTMLInputElement).value, began.current ?? null)
  }
  function revert() {
    reverted.current = true
    end()
  }
  const fact = { editing, draft, state, problem, found: kept.found, FieldEditor, button }
  return { ...fact, begin, end, save, revert, setDraft, onEscape, onInput, keys, ending }
}

/**
 * A fact of a record: label and value. A click edits it in place. Enter and blur save, Escape reverts, a
 * tick shows when it is stored. A refused value stays in its field with the error; if the field unmounts, a
 * toast shows both.
 */
export function Field(props: Props) {
  const { label, value, shown, kind = 'text', options, required = false, onSave, below } = props
  const { link, Input, searchable = (options?.length ?? 0) > 8 } = props
  const t = useTexts()
  const { locale } = useFormats()
  const id = useId()
  const edit = useFieldEdit(props)
  const { editing, draft, state, found, FieldEditor } = edit
  const plain =
    typeof value === 'string' ? (
      visible(value)
    ) : value === null ? null : kind === 'money' ? (
      <Money value={value} />
    ) : (
      writeNumber(value, locale)
    )
  const text = shown ?? (options?.find((option) => option.value === value)?.label || plain)
  // A restored field does not take the focus from the page.
  const autoFocus = found === null
  const common = { size: 'xs', 'aria-labelledby': id, autoFocus, error: edit.problem } as const
  return (
    <div className="field">
      <span className="field-label" id={id}>
        {label}
      </span>
      {/* The accessible name has both the action and the value. */}
      <span id={`${id}-edit`} hidden>{`${label}: ${t.app.edit}`}</span>
      <div className="field-value" onInput={edit.onInput}>
        {!editing || !onSave || !FieldEditor ? (
          onSave ? (
            <button
              ref={edit.button}
              type="button"
              className="field-button"
              id={`${id}-value`}
              aria-labelledby={`${id}-edit ${id}-value`}
              onClick={edit.begin}
              // Before its editor has loaded.
              onKeyDown={({ key }) => {
                if (editing && key === 'Escape') edit.end()
              }}
            >
              {text ?? <span className="soft field-none">–</span>}
            </button>
          ) : (
            <span className="field-text">{text ?? <span className="soft">–</span>}</span>
          )
        ) : (
          <FieldEditor
            kind={kind}
            Input={Input}
            options={options}
            required={required}
            searchable={searchable}
            common={common}
            keys={edit.keys}
            ending={edit.ending}
            draft={draft}
            onEscape={edit.onEscape}
            onChange={edit.setDraft}
            onSave={edit.save}
          />
        )}
        {link && !editing && (
          <a
            className="field-link icon-button"
            href={link.href}
            target={link.target}
            rel={link.rel}
            aria-label={link.label}
            title={link.label}
          >
            {link.icon}
          </a>
        )}
        {editing && found && (
          <DraftNote
            now={found.began === value ? undefined : (text ?? t.record.nothing)}
            onDiscard={edit.revert}
          />
        )}
        <span className="field-state" role="status">
          {(state === 'saving' || (editing && onSave && !FieldEditor)) && (
            <Loader size={12} role="img" aria-label={t.app.loading} />
          )}
          {state === 'saved' && <CheckIcon size={14} aria-label={t.app.saved} />}
        </span>
      </div>
      {below?.(editing ? draft : value)}
    </div>
  )
}
