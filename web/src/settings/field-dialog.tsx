import { Checkbox, Select, TextInput } from '@mantine/core'
import { useState } from 'react'
import { api, dataOf, Problem, type Schemas } from '../api/client.ts'
import type { Definition } from '../record/fields/definitions.ts'
import { useTexts } from '../texts/with-settings.ts'
import { FormDialog } from '../ui/form.tsx'
import { GrowingTextarea } from '../ui/growing-textarea.tsx'

export const types = ['text', 'number', 'boolean', 'date', 'select', 'url', 'email'] as const
type Start = ReturnType<typeof startOf>

type Props = {
  resource: Definition['resource']
  /** Left out: a new field. */
  field?: Definition | undefined
  onClose: () => void
  onSaved: (field: Definition) => void
}

const startOf = (field?: Definition) => ({
  label: field?.label ?? '',
  key: field?.key ?? '',
  type: (field?.type ?? 'text') as Definition['type'],
  options: field?.options.join('\n') ?? '',
  required: field?.required ?? false,
  unique: field?.unique ?? false,
  force: false,
})

/** The texts of the lines, without empty ones. */
const linesOf = (text: string) => text.split('\n').flatMap((line) => line.trim() || [])

/** Stores a definition. `force` accepts it even if existing values break it. */
function store({ resource, field }: Props, { key, label, type, options, force, ...rules }: Start) {
  const query = force ? { force: 'true' as const } : {}
  const shared = { ...rules, ...(type === 'select' && { options: linesOf(options) }) }
  if (!field) {
    const body = { ...shared, resource, key: key.trim(), type, ...(label.trim() && { label: label.trim() }) }
    return dataOf(api.POST('/api/v1/custom-fields', { params: { query }, body }))
  }
  const body = { ...shared, label: label.trim() || field.key } as Schemas['CustomFieldUpdate']
  return dataOf(api.PUT('/api/v1/custom-fields/{id}', { params: { path: { id: field.id }, query }, body }))
}

/** The number of values that break a definition, as the service's message tells it. */
const brokenIn = (problem: Problem) => Number(/^(\d+) existing value/.exec(problem.message)?.[1] ?? 0)

/** Creates or changes the definition of a custom field. */
export function FieldDialog(props: Props) {
  const { field, onClose, onSaved } = props
  const t = useTexts()
  const [broken, setBroken] = useState(false)
  async function send(values: Start) {
    try {
      return await store(props, values)
    } catch (error) {
      const n = error instanceof Problem && error.status === 409 ? brokenIn(error) : 0
      if (!n) throw error
      setBroken(true)
      const { request_id } = error as Problem
      throw new Problem(409, 'conflict', t.definitions.broken({ n }), request_id)
    }
  }
  return (
    <FormDialog
      opened
      draft={`field-${field?.id ?? 'new'}`}
      title={field ? t.definitions.edit({ label: field.label }) : t.definitions.create}
      action={field ? t.definitions.save : t.definitions.create}
      onClose={onClose}
      start={startOf(field)}
      send={send}
      onSent={onSaved}
    >
      {({ values, getInputProps }) => (
        <>
          <TextInput
            label={t.definitions.key}
            description={t.definitions.key_text}
            withAsterisk={!field}
            disabled={Boolean(field)}
            maxLength={64}
            autoComplete="off"
            {...(!field && { 'data-autofocus': true })}
            {...getInputProps('key')}
          />
          <TextInput
            label={t.definitions.label}
            description={t.definitions.label_text}
            maxLength={255}
            {...(field && { 'data-autofocus': true })}
            {...getInputProps('label')}
          />
          <Select
            label={t.fields.type}
            data={types.map((value) => ({ value, label: t.definitions.types[value] }))}
            allowDeselect={false}
            disabled={Boolean(field)}
            {...getInputProps('type')}
          />
          {values.type === 'select' && (
            <GrowingTextarea
              label={t.definitions.options}
              description={t.definitions.options_text}
              withAsterisk
              minRows={3}
              maxRows={10}
              {...getInputProps('options')}
            />
          )}
          <Checkbox
            label={t.definitions.required}
            description={t.definitions.required_text}
            {...getInputProps('required', { type: 'checkbox' })}
          />
          <Checkbox
            label={t.definitions.unique}
            description={t.definitions.unique_text}
            {...getInputProps('unique', { type: 'checkbox' })}
          />
          {broken && (
            <Checkbox
              label={t.definitions.force}
              description={t.definitions.force_text}
              {...getInputProps('force', { type: 'checkbox' })}
            />
          )}
        </>
      )}
    </FormDialog>
  )
}
