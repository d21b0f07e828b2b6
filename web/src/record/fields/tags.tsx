import { TextInput } from '@mantine/core'
import { XIcon } from '@primer/octicons-react'
import { useId, useRef, useState } from 'react'
import { isComposing } from '../../app/composition.ts'
import { explain } from '../../app/problems.tsx'
import { useTexts } from '../../texts/texts.ts'
import '../../ui/fields.css'
import { useUnsaved } from '../../ui/unsaved.ts'
import { visible } from '../../ui/visible.ts'
import { writtenTags } from '../../ui/written-tags.ts'
import './tags.css'

type Props = {
  value: readonly string[]
  /** Adds or removes a tag. Without it the tags are read-only. */
  onChange?: ((tag: string, wanted: boolean) => Promise<unknown>) | undefined
}
type Change = { tag: string; wanted: boolean }

/** The tags including changes that are being stored. */
const changed = (tags: readonly string[], changes: readonly Change[]): readonly string[] =>
  changes.reduce((now, { tag, wanted }) => {
    const others = now.filter((one) => one !== tag)
    return wanted ? [...others, tag] : others
  }, tags)

// A narrow column has one or two tags a line. Fold the tags only if more than `few` would be hidden.
const first_tags = 8
const few = 2

/** The tags of a record, added and removed in place. Changes are stored one after another. */
export function TagsField({ value, onChange }: Props) {
  const t = useTexts()
  const id = useId()
  const [text, setText] = useState('')
  const [problem, setProblem] = useState<string | null>(null)
  const input = useRef<HTMLInputElement>(null)
  const [all, setAll] = useState(false)
  const [changes, setChanges] = useState<Change[]>([])
  const last = useRef(Promise.resolve())
  const { lose, keep } = useUnsaved(t.fields.tags)
  const tags = changed(value, changes)
  const hidden = tags.length - first_tags
  const cut = hidden > few
  async function store(change: Change) {
    try {
      await onChange?.(change.tag, change.wanted)
    } catch (error) {
      const why = explain(error, t)
      setProblem(why)
      if (!change.wanted) return
      // Text that was typed meanwhile stays.
      setText((now) => now || change.tag)
      lose(change.tag, error, why)
    } finally {
      setChanges((before) => before.filter((one) => one !== change))
    }
  }
  function begin(change: Change) {
    setProblem(null)
    keep()
    // A new tag comes last.
    if (change.wanted) setAll(true)
    setChanges((before) => [...before, change])
    last.current = last.current.then(() => store(change))
  }
  function add() {
    setText('')
    for (const tag of writtenTags([text])) if (!tags.includes(tag)) begin({ tag, wanted: true })
  }
  return (
    <div className="field">
      <span className="field-label" id={id}>
        {t.fields.tags}
      </span>
      <fieldset className="tags" aria-labelledby={id}>
        {(cut && !all ? tags.slice(0, first_tags) : tags).map((tag) => (
          <span key={tag} className="tag">
            {visible(tag)}
            {onChange && (
              <button
                type="button"
                className="tag-remove"
                aria-label={t.record.remove_tag({ tag: visible(tag) })}
                onClick={() => {
                  input.current?.focus()
                  begin({ tag, wanted: false })
                }}
              >
                <XIcon size={12} />
              </button>
            )}
          </span>
        ))}
        {cut && (
          <button
            type="button"
            className="tag tags-all"
            aria-expanded={all}
            aria-label={all ? undefined : t.record.more_tags_label({ n: hidden })}
            onClick={() => setAll(!all)}
          >
            {all ? t.record.fewer_tags : t.record.more_tags({ n: hidden })}
          </button>
        )}
        {!onChange && !tags.length && <span className="soft">–</span>}
        {onChange && (
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
              if (isComposing(event.nativeEvent)) return
              if (event.key === 'Enter' || event.key === ',') {
                event.preventDefault()
                add()
              }
              if (event.key !== 'Escape') return
              event.stopPropagation()
              setText('')
              setProblem(null)
              keep()
              if (!text) event.currentTarget.blur()
            }}
          />
        )}
      </fieldset>
    </div>
  )
}
