import { type Static, Type } from 'typebox'
import {
  Body,
  CustomFields,
  CustomFieldsInput,
  Email,
  Id,
  nullableObject,
  OptionalId,
  OptionalText,
  Tags,
  TagsInput,
  Text,
  Timestamp,
} from '../../http/fields.ts'

const id = Id({ examples: [42] })
const name = {
  first_name: Text(255, { examples: ['Ana'] }),
  last_name: Text(255, { examples: ['Ruiz'] }),
}
const email = Email({ examples: ['ana.ruiz@acme.example'] })
const phone = OptionalText(64, { examples: ['+34 910 55 01 42'] })
const mobile = OptionalText(64, { examples: ['+34 600 55 01 42'] })
const company_id = OptionalId({ examples: [7] })
const title = OptionalText(255, { examples: ['Head of Purchasing'] })
const stage = OptionalText(64, { examples: ['lead'] })
const source = OptionalText(255, { examples: ['trade fair'] })

const company = { id: Id({ examples: [7] }), name: Text(255, { examples: ['Acme Inc.'] }) }
const website = OptionalText(255, { examples: ['https://acme.example'] })

/** The list view. `company_id` and `company` are null while the company is in the trash, too. */
export const ListedContact = Type.Object(
  {
    id,
    ...name,
    email,
    phone,
    company_id,
    company: nullableObject(Type.Object(company)),
    stage,
    created_at: Timestamp(),
  },
  { title: 'ListedContact' },
)
export type ListedContact = Static<typeof ListedContact>

/** The detail view. */
export const Contact = Type.Object(
  {
    id,
    ...name,
    email,
    phone,
    mobile,
    company_id,
    company: nullableObject(Type.Object({ ...company, website })),
    title,
    stage,
    source,
    custom_fields: CustomFields({ examples: [{ region: 'EMEA' }] }),
    tags: Tags({ examples: [['partner']] }),
    created_at: Timestamp(),
    updated_at: Timestamp(),
  },
  { title: 'Contact' },
)
export type Contact = Static<typeof Contact>

const fields = {
  ...name,
  email,
  phone,
  mobile,
  company_id,
  title,
  stage,
  source,
  custom_fields: CustomFieldsInput(),
  tags: TagsInput(),
}
/** What a person may change; everything else of the detail view is read-only. */
export const contact_fields = Object.keys(fields) as (keyof typeof fields)[]

const read_only = Object.keys(Contact.properties)
export const ContactCreate = Body(fields, read_only, ['first_name', 'last_name'])
export const ContactUpdate = Body(fields, read_only)

/** The filters of the list that are its own; blank texts do not filter. */
export const contact_filters = {
  search: Type.Optional(
    Type.String({
      maxLength: 255,
      description:
        'Every word must occur in first name, last name or e-mail, anywhere inside, whatever its case and accents.',
    }),
  ),
  company_id: Type.Optional(Id()),
  stage: Type.Optional(Type.String({ maxLength: 64 })),
  tag: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: 'One of its tags.' })),
}
