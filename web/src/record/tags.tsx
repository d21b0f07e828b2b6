import { TextInput } from '@mantine/core'
import { XIcon } from '@primer/octicons-react'
import { useId, useRef, useState } from 'react'
import { explain } from '../app/problems.tsx'
import { useTexts } from '../texts/texts.ts'
import '../ui/fields.css'
import './tags.css'

/** A tag, as it stands in lists. */
export const Tag = ({ children }: { children: React.ReactNode }) => <span className="tag">{children}</span>

type Props = {
  value: readonly string[]
  /** Stores the whole list. Without it the tags are read only. */
  onSave?: ((tags: string[]) => Promise<unknown>) | undefined
}

/** The tags of a record, in the line of a fact: written and removed in place, each stored at once. */
export function TagsField({ value, onSave }: Props) {
  const t = useTexts()
  const id = useId()
  const [text, setText] = useState('')
  const [problem, setProblem] = useState<string | null>(null)
  const input = useRef<HTMLInputElement>(null)
  async function save(tags: string[]) {
    setProblem(null)
    try {
      await onSave?.(tags)
      return true
    } catch (error) {
      setProblem(explain(error, t))
      return false
    }
  }
  async function add() {
    const tag = text.trim()
    if (!tag || value.includes(tag)) return setText('')
    if (await save([...value, tag])) setText('')
  }
  return (
    <div className="field">
      <span className="field-label" id={id}>
        {t.app.tags}
      </span>
      <fieldset className="tags" aria-labelledby={id}>
        {value.map((tag) => (
          <span key={tag} className="tag">
            {tag}
            {onSave && (
              <button
                type="button"
                className="tag-remove"
                aria-label={t.record.remove_tag(tag)}
                onClick={async () => {
                  input.current?.focus()
                  await save(value.filter((one) => one !== tag))
                }}
              >
                <XIcon size={12} />
              </button>
            )}
          </span>
        ))}
        {!onSave && !value.length && <span className="field-none">–</span>}
        {onSave && (
          <TextInput
            ref={input}
            className="tag-input"
            size="xs"
            variant="unstyled"
            aria-label={t.record.add_tag}
            placeholder={t.record.add_tag}
            value={text}
            error={problem}
            onChange={(event) => setText(event.currentTarget.value)}
            onBlur={add}
            onKeyDown={(event) => {
              if (event.key === 'Enter' || event.key === ',') {
                event.preventDefault()
                add()
              }
              if (event.key !== 'Escape') return
              event.stopPropagation()
              setText('')
              setProblem(null)
              if (!text) event.currentTarget.blur()
            }}
          />
        )}
      </fieldset>
    </div>
  )
}
