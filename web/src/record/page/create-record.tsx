import type { UseFormReturnType } from '@mantine/form'
import type { ReactNode } from 'react'
import { type NewOf, type RecordOf, recordApi } from '../../api/record-api.ts'
import { useSession } from '../../app/session.ts'
import { useTexts } from '../../texts/texts.ts'
import { FormDialog } from '../../ui/form-dialog.tsx'
import type { Choice } from '../../ui/reference.tsx'
import { TagsInput } from '../../ui/tags-input.tsx'
import { DefinedInputs } from '../fields/defined-inputs.tsx'
import { type CustomChanges, newFields, useDefinitions } from '../fields/definitions.ts'
import { OwnerInput } from '../fields/owner-input.tsx'
import { type OwnedKind, useNames } from '../kinds.ts'
import { useRefreshAfter } from '../refresh.ts'
import { useShowCreated } from './created.ts'

type Values = Record<string, unknown>

type Props<K extends OwnedKind, Start extends Values> = {
  kind: K
  opened: boolean
  onClose: () => void
  onCreated?: ((record: RecordOf<K>) => void) | undefined
  start: Start
  /** Converts values for the API. Chosen records are converted anyway, to ids. */
  bodyOf?: (values: Start) => object
  children: (form: UseFormReturnType<Start>) => ReactNode
}

/** The records that a dialog was opened for: a draft for one of them is not for another one. */
export const linkedIn = (start: Values): string =>
  Object.entries(start)
    .map(([name, value]) => (name.endsWith('_id') && value ? `-${name}-${(value as Choice).id}` : ''))
    .join('')

/**
 * The dialog that creates a record, with owner and tags. Fields have the names of the API; one that ends in
 * _id holds the chosen record.
 */
export function CreateRecord<K extends OwnedKind, Start extends Values>(props: Props<K, Start>) {
  const { kind, opened, onClose, onCreated, start, bodyOf, children } = props
  const t = useTexts()
  const names = useNames(kind)
  const refresh = useRefreshAfter(kind)
  const showCreated = useShowCreated(kind)
  const { user } = useSession()
  const definitions = useDefinitions(kind)
  const no_values: CustomChanges = Object.fromEntries(definitions.map(({ key }) => [key, null]))
  function send(values: Start & { custom_fields: CustomChanges }): Promise<RecordOf<K>> {
    const custom_fields = newFields(definitions, values.custom_fields)
    const body: Values = { ...values, ...bodyOf?.(values), custom_fields }
    for (const name of Object.keys(body))
      if (name.endsWith('_id') && typeof body[name] === 'object')
        body[name] = (body[name] as Choice | null)?.id ?? null
    return recordApi(kind).create(body as NewOf<K>)
  }
  return (
    <FormDialog
      draft={`create-${kind}${linkedIn(start)}`}
      title={names.create}
      action={names.create}
      opened={opened}
      onClose={onClose}
      start={{
        ...start,
        owner_id: user.id as string | null,
        tags: [] as string[],
        custom_fields: no_values,
      }}
      send={send}
      onSent={(record) => {
        showCreated(record)
        refresh()
        onCreated?.(record)
      }}
    >
      {(form) => (
        <>
          {children(form as unknown as UseFormReturnType<Start>)}
          <DefinedInputs kind={kind} form={form} />
          <div className="form-pair">
            <OwnerInput kind={kind} {...form.getInputProps('owner_id')} />
            <TagsInput label={t.fields.tags} maxTags={50} {...form.getInputProps('tags')} />
          </div>
        </>
      )}
    </FormDialog>
  )
}
