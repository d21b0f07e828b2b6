import { DeviceMobileIcon, LinkExternalIcon, MailIcon } from '@primer/octicons-react'
import type { ComponentProps } from 'react'
import type { ChangesOf, RecordKind, RecordOf } from '../../api/record-api.ts'
import { useSession } from '../../app/session.ts'
import { type Texts, useTexts } from '../../texts/texts.ts'
import { Field, type FieldKind } from '../../ui/fields.tsx'
import { telephoneOf } from '../../ui/telephone.ts'
import { visible } from '../../ui/visible.ts'
import { websiteOf } from '../../ui/website.ts'
import { type Kind, type Kinds, useKinds, useLabels } from '../kinds.ts'
import { ReferenceField } from './reference-field.tsx'

/** Stores changes of a record; undefined if the person may only read. */
export type Save<K extends RecordKind> = ((changes: ChangesOf<K>) => Promise<unknown>) | undefined

/** A field and its type; for a reference, the kind of the referenced record. */
export type Fact<K extends RecordKind> = readonly [keyof RecordOf<K> & string, FieldKind | RecordKind]

type Below = ComponentProps<typeof Field>['below']

type Props<K extends RecordKind> = {
  kind: K
  record: RecordOf<K>
  fields: readonly Fact<K>[]
  save: Save<K>
  /** The line below a field, for its value or the typed text. */
  below?: { [name: string]: Below }
}

/** Facts of a record, each edited in place. */
export function Facts<K extends RecordKind>({ kind, record, fields, save, below = {} }: Props<K>) {
  const kinds = useKinds()
  const labelOf = useLabels(kind)
  const t = useTexts()
  const { lost_reasons, contact_stages } = useSession().workspace
  const kept: { [name: string]: readonly string[] } = { lost_reason: lost_reasons, stage: contact_stages }
  const values = record as Record<string, unknown>
  return fields.map(([name, type]) => {
    const onSave = save && ((value: unknown) => save({ [name]: value } as ChangesOf<K>))
    const shared = { label: labelOf(name), name, onSave }
    if (!isKind(kinds, type))
      return (
        <Field
          key={name}
          {...shared}
          kind={type}
          value={values[name] as string | number | null}
          below={below[name]}
          {...optionsOf(kept[name], values[name])}
          link={linkOf(type, shared.label, values[name], t)}
        />
      )
    const { noun, nameOf }: Kind = kinds[type]
    // Some records embed the referenced record; others have its id only.
    const embedded = values[noun] as (Parameters<typeof nameOf>[0] & { id: number }) | null | undefined
    const id = values[name] as number | null
    const value = embedded ? { id: embedded.id, name: nameOf(embedded) } : id ? { id } : null
    return <ReferenceField key={name} label={shared.label} onSave={onSave} kind={type} value={value} />
  })
}

/** The values that the workspace keeps for a text, and the present one. Nothing for any other text. */
function optionsOf(kept: readonly string[] = [], value: unknown) {
  if (!kept.length) return
  const all = typeof value === 'string' && !kept.includes(value) ? [...kept, value] : kept
  return { options: all.map((one) => ({ value: one, label: visible(one) })) }
}

/** The link that writes to an e-mail address, calls a number or opens a website. */
export function linkOf(type: string, label: string, value: unknown, t: Texts) {
  if (typeof value !== 'string' || !value) return
  if (type === 'email')
    return {
      href: `mailto:${value}`,
      label: t.contacts.write_email({ name: value }),
      icon: <MailIcon size={14} />,
    }
  const website = type === 'url' && websiteOf(value)
  if (website)
    return {
      href: website,
      label: t.record.open_link({ name: label }),
      icon: <LinkExternalIcon size={14} />,
      target: '_blank',
      rel: 'noopener noreferrer',
    }
  const number = type === 'tel' && telephoneOf(value)
  if (number)
    return { href: number, label: t.contacts.call({ name: value }), icon: <DeviceMobileIcon size={14} /> }
}

const isKind = (kinds: Kinds, type: string): type is RecordKind => type in kinds
