import { TextInput } from '@mantine/core'
import type { RecordKind, RecordOf } from '../../api/record-api.ts'
import { DayInput, MoneyInput, NumberInput } from '../../ui/inputs.tsx'
import { RecordChooser } from '../fields/choices.tsx'
import type { Fact } from '../fields/facts.tsx'
import { type CreateProps, type Kinds, type Linked, type OwnedKind, useKinds, useLabels } from '../kinds.ts'
import { CreateRecord } from './create-record.tsx'

// A moment needs a time zone: its kind writes the dialog.
type Type = Exclude<Fact<RecordKind>[1], 'moment'>

type Props<K extends OwnedKind> = CreateProps & {
  kind: K
  fields: readonly (readonly [Fact<K>[0], Type])[]
  onCreated?: (record: RecordOf<K>) => void
}

/** The dialog that creates a record, with an input for each fact. The first one has the whole width. */
export function CreateFacts<K extends OwnedKind>({ kind, fields, initial, ...dialog }: Props<K>) {
  const kinds = useKinds()
  const labelOf = useLabels(kind)
  const start = Object.fromEntries(fields.map(([name, type]) => [name, startOf(type, kinds, initial)]))
  return (
    <CreateRecord kind={kind} {...dialog} start={start}>
      {({ getInputProps }) => {
        const [first, ...others] = fields.map(([name, type], index) => (
          <FactInput
            key={name}
            type={type}
            label={labelOf(name)}
            {...(index === 0 && { 'data-autofocus': true })}
            {...getInputProps(name)}
          />
        ))
        return (
          <>
            {first}
            <div className="form-pair">{others}</div>
          </>
        )
      }}
    </CreateRecord>
  )
}

const nulls: readonly Type[] = ['number', 'money', 'date']

function startOf(type: Type, kinds: Kinds, initial: Linked = {}): unknown {
  if (type in kinds) return initial[kinds[type as RecordKind].noun as keyof Linked] ?? null
  return nulls.includes(type) ? null : ''
}

function FactInput({ type, ...input }: { type: Type; label: string }) {
  if (type in useKinds()) return <RecordChooser kind={type as RecordKind} {...input} />
  if (type === 'number') return <NumberInput {...input} />
  if (type === 'money') return <MoneyInput {...input} />
  if (type === 'date') return <DayInput {...input} />
  return <TextInput type={type === 'long' ? 'text' : type} {...input} />
}
