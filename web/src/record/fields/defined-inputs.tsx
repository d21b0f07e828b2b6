import { Checkbox, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { DayInput, NumberInput } from '../../ui/inputs.tsx'
import { Select } from '../../ui/select.tsx'
import type { OwnedKind } from '../kinds.ts'
import { type CustomChanges, type CustomValue, type Definition, useDefinitions } from './definitions.ts'

/** The property of a form with the custom fields. */
type WithFields = { custom_fields: CustomChanges }

/** The defined fields of a new record, as inputs of its form. */
export function DefinedInputs<Values extends WithFields>(props: {
  kind: OwnedKind
  form: UseFormReturnType<Values>
}) {
  const form = props.form as unknown as UseFormReturnType<WithFields>
  const definitions = useDefinitions(props.kind)
  if (!definitions.length) return null
  const values = form.values.custom_fields
  return (
    <div className="form-pair">
      {definitions.map((definition) => {
        const { id, key } = definition
        return (
          <DefinedInput
            key={id}
            definition={definition}
            value={values[key] ?? null}
            error={form.errors[`custom_fields.${key}`]}
            onChange={(value) => {
              form.clearFieldError(`custom_fields.${key}`)
              form.setFieldValue('custom_fields', { ...values, [key]: value })
            }}
          />
        )
      })}
    </div>
  )
}

type InputProps = {
  definition: Definition
  value: CustomValue | null
  error: React.ReactNode
  onChange: (value: CustomValue | null) => void
}

function DefinedInput({ definition, value, error, onChange }: InputProps) {
  const { type, label, options, required } = definition
  const given = { label, error, withAsterisk: required, 'aria-required': required || undefined }
  if (type === 'boolean')
    return (
      <Checkbox
        className="defined-check"
        label={label}
        error={error}
        checked={value === true}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
    )
  if (type === 'number')
    // The decimal keyboard of phones has no minus.
    return <NumberInput {...given} inputMode="text" value={value as number | null} onChange={onChange} />
  if (type === 'date') return <DayInput {...given} value={value as string | null} onChange={onChange} />
  if (type === 'select')
    return (
      <Select
        {...given}
        data={options}
        value={value as string | null}
        onChange={onChange}
        clearable={!required}
        searchable={options.length > 8}
      />
    )
  return (
    <TextInput
      {...given}
      type={type}
      value={String(value ?? '')}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}
