import { Input } from '@mantine/core'
import { XIcon } from '@primer/octicons-react'
import { useRef, useState } from 'react'
import { late } from '../app/late.ts'
import { explain } from '../app/problems.tsx'
import { RecordLink, useRecordName } from '../record/fields/linked.tsx'
import { useLabels } from '../record/kinds.ts'
import { useTexts } from '../texts/texts.ts'
import { focusBeside } from '../ui/focus.ts'
import { visible } from '../ui/visible.ts'
import '../ui/fields.css'
import '../record/fields/tags.css'

const Chooser = late(async () => (await import('../record/fields/choices.tsx')).RecordChooser)
const most_guests = 50

type Props = {
  ids: readonly number[]
  /** Without it the guests are read-only. */
  onChange?: ((ids: number[]) => unknown) | undefined
  /** In a dialog, the label is above, and no name leads away. */
  in_dialog?: boolean
}

/** The contacts who also take part in an appointment, added and removed in place. Changes are stored one after another. */
export function Guests({ ids, onChange, in_dialog = false }: Props) {
  const t = useTexts()
  const label = useLabels('appointments')('guest_ids')
  const [next, setNext] = useState<readonly number[] | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const [added, setAdded] = useState(0)
  // A page loads the field when it is asked for.
  const [adding, setAdding] = useState(in_dialog)
  const last = useRef(Promise.resolve())
  const shown = next ?? ids
  function change(to: number[]) {
    setNext(to)
    setProblem(null)
    last.current = last.current.then(async () => {
      try {
        await onChange?.(to)
      } catch (error) {
        setProblem(explain(error, t))
      }
      setNext((now) => (now === to ? null : now))
    })
  }
  if (!onChange && !shown.length) return null
  const chips = (
    <fieldset className="tags" aria-label={label}>
      {shown.map((id) => (
        <Guest
          key={id}
          id={id}
          linked={!in_dialog}
          onRemove={onChange && (() => change(shown.filter((one) => one !== id)))}
        />
      ))}
      {onChange && !adding && (
        <button type="button" className="tag tags-all" onClick={() => setAdding(true)}>
          {t.calendar.add_guest}
        </button>
      )}
      {onChange && adding && shown.length < most_guests && (
        <div className="tag-input">
          <Chooser
            // Empty again after each guest.
            key={added}
            autoFocus={!in_dialog || added > 0}
            kind="contacts"
            label={t.calendar.add_guest}
            placeholder={t.calendar.add_guest}
            hideLabel
            onBlur={(unread) => !in_dialog && !unread && setAdding(false)}
            onChange={(choice) => {
              if (!choice) return
              setAdded(added + 1)
              if (!shown.includes(choice.id)) change([...shown, choice.id])
            }}
          />
        </div>
      )}
      {problem && <Input.Error role="alert">{problem}</Input.Error>}
    </fieldset>
  )
  if (in_dialog)
    return (
      <Input.Wrapper label={label} labelElement="div">
        {chips}
      </Input.Wrapper>
    )
  return (
    <div className="field">
      <span className="field-label">{label}</span>
      {chips}
    </div>
  )
}

type GuestProps = { id: number; linked: boolean; onRemove: (() => void) | undefined }

function Guest({ id, linked, onRemove }: GuestProps) {
  const t = useTexts()
  const name = useRecordName('contacts', id) ?? `#${id}`
  return (
    <span className="tag" ref={focusBeside}>
      {linked ? <RecordLink kind="contacts" id={id} name={name} /> : visible(name)}
      {onRemove && (
        <button
          type="button"
          className="tag-remove"
          aria-label={t.calendar.remove_guest({ name })}
          onClick={onRemove}
        >
          <XIcon size={12} />
        </button>
      )}
    </span>
  )
}
