import { CustomFields } from '../record/custom-fields.tsx'
import { ReferenceField } from '../record/reference-field.tsx'
import { TagsField } from '../record/tags.tsx'
import { useTexts } from '../texts/texts.ts'
import { Field, type FieldKind } from '../ui/fields.tsx'
import { Ago } from '../ui/values.tsx'
import type { Contact, ContactChanges } from './contacts.ts'

// In the order in which they are read; the company stands between the two groups.
const before_company = [
  ['first_name', 'text'],
  ['last_name', 'text'],
  ['title', 'text'],
] as const
const after_company = [
  ['email', 'email'],
  ['phone', 'tel'],
  ['mobile', 'tel'],
  ['stage', 'text'],
  ['source', 'text'],
] as const
type PlainField = (typeof before_company | typeof after_company)[number][0]

type Props = {
  contact: Contact
  /** Stores the changed fields; undefined for those who may only read. */
  onSave: ((changes: ContactChanges) => Promise<unknown>) | undefined
  /** Gives it a tag or takes it away; undefined as above. */
  onTag: ((tag: string, wanted: boolean) => Promise<unknown>) | undefined
}

/** What is known of a contact, each fact edited in its place. */
export function ContactFacts({ contact, onSave, onTag }: Props) {
  const t = useTexts()
  const { company } = contact
  const field = ([name, kind]: readonly [PlainField, FieldKind]) => (
    <Field
      key={name}
      label={t.contacts[name]}
      kind={kind}
      value={contact[name]}
      onSave={onSave && ((value) => onSave({ [name]: value }))}
    />
  )
  return (
    <>
      <div className="fields">
        {before_company.map(field)}
        <ReferenceField
          label={t.contacts.company}
          kind="companies"
          value={company}
          onSave={onSave && ((company_id) => onSave({ company_id }))}
        />
        {after_company.map(field)}
        <TagsField value={contact.tags} onChange={onTag} />
      </div>
      <CustomFields
        value={contact.custom_fields}
        onSave={onSave && ((custom_fields) => onSave({ custom_fields }))}
      />
      <div className="fields record-dates">
        <Field label={t.app.created_at} value={null} shown={<Ago at={contact.created_at} />} />
        <Field label={t.app.updated_at} value={null} shown={<Ago at={contact.updated_at} />} />
      </div>
    </>
  )
}
