import { PencilIcon } from '@primer/octicons-react'
import { useId, useRef, useState } from 'react'
import type { RecordKind } from '../../api/record-api.ts'
import { holdKeys } from '../../app/commands.ts'
import { latePart } from '../../app/late.ts'
import { explain } from '../../app/problems.tsx'
import { useTexts } from '../../texts/texts.ts'
import { useFocusBack } from '../../ui/focus.ts'
import type { Choice } from '../../ui/reference.tsx'
import { RecordLink, useRecordName } from './linked.tsx'
import '../../ui/fields.css'
import './reference-field.css'

const choices = latePart(async () => (await import('./choices.tsx')).RecordChooser)

type Props = {
  label: string
  kind: RecordKind
  /** The referenced record. An unknown name is read. */
  value: { id: number; name?: string } | null
  /** Stores the id of the chosen record; null for none. Without it the field is read-only. */
  onSave?: ((id: number | null) => Promise<unknown>) | undefined
}

/** A reference to a record: a link, and a button that chooses another one in place. */
export function ReferenceField({ label, kind, value, onSave }: Props) {
  const t = useTexts()
  const id = useId()
  const [editing, setEditing] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  // That of the record as it was when the edit began.
  const store = useRef(onSave)
  const saving = useRef(false)
  const button = useRef<HTMLButtonElement>(null)
  const name = useRecordName(kind, value?.name === undefined ? value?.id : undefined) ?? value?.name
  const chosen: Choice | null = value && { id: value.id, name: name ?? `#${value.id}` }
  const RecordChooser = choices.usePart(editing, end, onSave !== undefined)
  useFocusBack(editing, button)
  function end() {
    setEditing(false)
    setProblem(null)
  }
  async function save(choice: Choice | null) {
    if (choice?.id === value?.id) return end()
    saving.current = true
    setProblem(null)
    try {
      await store.current?.(choice?.id ?? null)
      end()
    } catch (error) {
      setProblem(explain(error, t))
    } finally {
      saving.current = false
    }
  }
  if (editing && onSave && RecordChooser)
    return (
      <div className="field">
        <span className="field-label" id={id}>
          {label}
        </span>
        {/* biome-ignore lint/a11y/noStaticElementInteractions: Escape is heard on its way up from the input */}
        <div
          onKeyDown={(event) => {
            if (event.key !== 'Escape') return
            event.stopPropagation()
            end()
          }}
        >
          <RecordChooser
            label={label}
            hideLabel
            autoFocus
            value={chosen}
            kind={kind}
            error={problem}
            onChange={save}
            // The input stays while the choice is being stored, so that an error can show.
            onBlur={(unread) => problem === null && !saving.current && !unread && setEditing(false)}
          />
        </div>
      </div>
    )
  return (
    <div className="field">
      <span className="field-label" id={id}>
        {label}
      </span>
      <div className="reference-value">
        {chosen ? (
          <RecordLink kind={kind} {...chosen} className="field-text" />
        ) : (
          <span className="field-text">
            <span className="soft field-none">–</span>
          </span>
        )}
        {onSave && (
          <button
            ref={button}
            type="button"
            className="reference-edit icon-button"
            aria-label={`${label}: ${t.app.edit}`}
            onClick={() => {
              store.current = onSave
              if (!choices.now()) holdKeys()
              setEditing(true)
            }}
          >
            <PencilIcon size={14} />
          </button>
        )}
      </div>
    </div>
  )
}
