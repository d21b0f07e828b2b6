import { Checkbox } from '@mantine/core'
import { useState } from 'react'
import { useFormats } from '../../app/formats.ts'
import { explain } from '../../app/problems.tsx'
import { useTexts } from '../../texts/texts.ts'
import { Field, type FieldKind } from '../../ui/fields.tsx'
import { type CustomValue, type Definition, fits } from './definitions.ts'
import { linkOf } from './facts.tsx'

type FieldProps = {
  definition: Definition
  value: unknown
  onSave?: ((value: CustomValue | null) => Promise<unknown>) | undefined
}

/** A defined field of a record, edited in place as its type says. */
export function DefinedField({ definition, value, onSave }: FieldProps) {
  const t = useTexts()
  const formats = useFormats()
  const { label, type, options, required } = definition
  const held = value === undefined || fits(definition, value)
  if (type === 'boolean' && held)
    return <BooleanField definition={definition} value={value} onSave={onSave} />
  return (
    <Field
      name={`custom-${definition.key}`}
      label={label}
      value={held ? ((value as string | number | undefined) ?? null) : null}
      // An older value that the type does not accept is shown as it is.
      shown={!held ? String(value) : type === 'date' && value ? formats.date(String(value)) : undefined}
      link={linkOf(type, label, value, t)}
      kind={type === 'select' || type === 'boolean' ? 'text' : (type satisfies FieldKind)}
      {...(type === 'select' && { options: options.map((one) => ({ value: one, label: one })) })}
      required={required}
      onSave={onSave}
    />
  )
}

function BooleanField({ definition, value, onSave }: FieldProps) {
  const t = useTexts()
  const [problem, setProblem] = useState<string | null>(null)
  const [shown, setShown] = useState<boolean | null>(null)
  async function save(next: boolean) {
    setShown(next)
    setProblem(null)
    try {
      await onSave?.(next)
    } catch (error) {
      setProblem(explain(error, t))
    } finally {
      setShown(null)
    }
  }
  return (
    <div className="field">
      <span className="field-label" aria-hidden>
        {definition.label}
      </span>
      <Checkbox
        className="defined-check"
        size="xs"
        aria-label={definition.label}
        checked={shown ?? value === true}
        disabled={!onSave}
        error={problem}
        onChange={(event) => save(event.currentTarget.checked)}
      />
    </div>
  )
}
