import { PencilIcon } from '@primer/octicons-react'
import { Link } from '@tanstack/react-router'
import { useId, useRef, useState } from 'react'
import { explain } from '../app/problems.tsx'
import { useTexts } from '../texts/texts.ts'
import '../ui/fields.css'
import { type Choice, ReferenceInput } from '../ui/reference.tsx'
import './reference-field.css'

type Props = {
  label: string
  value: Choice | null
  /** Where the record is that it refers to. */
  href?: string | undefined
  /** Part of the queries' key, such as companies. */
  kind: string
  search: (text: string) => Promise<Choice[]>
  /** Stores the choice, null for none. Without it the field is read only. */
  onSave?: ((choice: Choice | null) => Promise<unknown>) | undefined
}

/** A fact that is another record: a link to it, and a button that chooses another one in place. */
export function ReferenceField({ label, value, href, kind, search, onSave }: Props) {
  const t = useTexts()
  const id = useId()
  const [editing, setEditing] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const button = useRef<HTMLButtonElement>(null)
  function end() {
    setEditing(false)
    setProblem(null)
    // Whoever has gone on to something else stays there.
    requestAnimationFrame(() => document.activeElement === document.body && button.current?.focus())
  }
  async function save(choice: Choice | null) {
    if (choice?.id === value?.id) return end()
    try {
      await onSave?.(choice)
      end()
    } catch (error) {
      setProblem(explain(error, t))
    }
  }
  if (editing && onSave)
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
          <ReferenceInput
            label={label}
            hideLabel
            autoFocus
            value={value}
            kind={kind}
            search={search}
            error={problem}
            onChange={save}
            onBlur={() => problem === null && setEditing(false)}
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
        {value && href ? (
          <Link to={href} className="field-text">
            {value.name}
          </Link>
        ) : (
          <span className="field-text">{value?.name ?? <span className="field-none">–</span>}</span>
        )}
        {onSave && (
          <button
            ref={button}
            type="button"
            className="reference-edit"
            aria-label={`${label}: ${t.app.edit}`}
            onClick={() => setEditing(true)}
          >
            <PencilIcon size={14} />
          </button>
        )}
      </div>
    </div>
  )
}
