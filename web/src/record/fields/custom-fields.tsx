import { ActionIcon, Button, Skeleton } from '@mantine/core'
import { PlusIcon, XIcon } from '@primer/octicons-react'
import { useRef, useState } from 'react'
import { holdKeys } from '../../app/commands.ts'
import { latePart } from '../../app/late.ts'
import { showProblem } from '../../app/problems.tsx'
import { useTexts } from '../../texts/texts.ts'
import { Field } from '../../ui/fields.tsx'
import { focusBeside, useFocusBack } from '../../ui/focus.ts'
import { oneClick } from '../../ui/one-press.ts'
import { offerUndo } from '../../ui/undo.tsx'
import { Soft } from '../../ui/values.tsx'
import type { OwnedKind } from '../kinds.ts'
import { DefinedField } from './defined-fields.tsx'
import { type CustomChanges, type CustomValue, useDefinitionsQuery } from './definitions.ts'
import { yesOrNo } from './yes-or-no.ts'
import './custom-fields.css'

const newField = latePart(async () => (await import('./new-field.tsx')).NewField)

type Values = Record<string, CustomValue>

type Props = {
  kind: OwnedKind
  value: Record<string, unknown>
  /** Stores the given fields; null removes one. Without it the fields are read-only. */
  onSave?: ((changes: CustomChanges) => Promise<unknown>) | undefined
}

/** The custom fields of a record: the defined ones in their order, then others with the type of their value. */
export function CustomFields({ kind, value, onSave }: Props) {
  const t = useTexts()
  const [adding, setAdding] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const NewField = newField.usePart(adding, () => setAdding(false), onSave !== undefined)
  useFocusBack(adding, button)
  const { data: definitions = [], isLoading } = useDefinitionsQuery(kind)
  const defined = new Set(definitions.map(({ key }) => key))
  const fields = Object.entries(value as Values)
    .filter(([key]) => !defined.has(key))
    .sort(([a], [b]) => a.localeCompare(b))
  async function remove(name: string, before: CustomValue) {
    try {
      await onSave?.({ [name]: null })
      offerUndo(t, t.record.field_removed({ name }), async () => onSave?.({ [name]: before }))
    } catch (error) {
      showProblem(error, t)
    }
  }
  // Until then, a field would have its key for a label, and the wrong input.
  if (isLoading)
    return (
      <section aria-label={t.fields.custom_fields} aria-busy>
        <h2 className="record-heading">{t.fields.custom_fields}</h2>
        {Object.keys(value).map((key) => (
          <Skeleton key={key} height="0.875rem" my="0.5625rem" />
        ))}
      </section>
    )
  return (
    <section aria-label={t.fields.custom_fields}>
      <h2 className="record-heading">{t.fields.custom_fields}</h2>
      {fields.length + definitions.length === 0 && !adding && <Soft>{t.record.no_custom_fields}</Soft>}
      {definitions.map((definition) => (
        <div key={definition.id} className="custom-field" data-required={definition.required || undefined}>
          <DefinedField
            definition={definition}
            value={value[definition.key]}
            onSave={onSave && ((next) => onSave({ [definition.key]: next }))}
          />
        </div>
      ))}
      {fields.map(([name, held]) => (
        <div key={name} ref={focusBeside} className="custom-field">
          <CustomField name={name} value={held} onSave={onSave} />
          {onSave && (
            <ActionIcon
              aria-label={t.record.remove_field({ name })}
              onClick={oneClick(() => remove(name, held))}
            >
              <XIcon size={12} />
            </ActionIcon>
          )}
        </div>
      ))}
      {onSave &&
        (NewField ? (
          <NewField
            taken={[...defined, ...Object.keys(value)]}
            onSave={onSave}
            onClose={() => setAdding(false)}
          />
        ) : (
          <Button
            ref={button}
            mt="xs"
            variant="subtle"
            color="gray"
            leftSection={<PlusIcon size={14} />}
            onClick={() => {
              if (!newField.now()) holdKeys()
              setAdding(true)
            }}
            // Before the field has loaded.
            onKeyDown={({ key }) => {
              if (key === 'Escape') setAdding(false)
            }}
          >
            {t.app.add_field}
          </Button>
        ))}
    </section>
  )
}

type OneProps = { name: string; value: CustomValue } & Pick<Props, 'onSave'>

function CustomField({ name, value, onSave }: OneProps) {
  const t = useTexts()
  const save = onSave && ((next: CustomValue | null) => onSave({ [name]: next }))
  if (typeof value !== 'boolean')
    return (
      <Field
        name={`custom-${name}`}
        label={name}
        value={value}
        kind={typeof value === 'number' ? 'number' : 'text'}
        {...(save && { onSave: save })}
      />
    )
  return (
    <Field
      label={name}
      value={String(value)}
      options={yesOrNo(t.app.yes, t.app.no)}
      {...(save && { onSave: (next) => save(next === null ? null : next === 'true') })}
    />
  )
}
