import { type Static, Type } from 'typebox'
import {
  CustomFields,
  CustomFieldsInput,
  Email,
  Id,
  MaybeText,
  nullableObject,
  OptionalId,
  OptionalText,
  Phone,
  Tags,
  TagsInput,
  Text,
} from '../../http/fields.ts'
import { bodyOf, dates, defineColumns, detailView, listView, type Values } from '../resource.ts'
import { facts, owner, unlisted_authors } from '../shared-columns.ts'

const company = { id: Id({ examples: [7] }), name: Text(255, { examples: ['Acme Inc.'] }) }
const website = OptionalText(255, { examples: ['https://acme.example'] })

export const columns = defineColumns({
  first_name: { shown: Text(255, { examples: ['Ana'] }), required: true, personal: true },
  last_name: { shown: Text(255, { examples: ['Ruiz'] }), required: true, personal: true },
  email: { shown: Email({ examples: ['ana.ruiz@acme.example'] }), key: 'email', personal: true },
  phone: { shown: Phone({ examples: ['+34 910 55 01 42'] }), key: 'phone', personal: true },
  mobile: {
    shown: Phone({ examples: ['+34 600 55 01 42'] }),
    key: 'phone',
    listed: false,
    personal: true,
  },
  company_id: { shown: OptionalId({ examples: [7] }), refers_to: 'companies', counted: true },
  company: {
    shown: nullableObject(Type.Object({ ...company, website })),
    embeds: {
      by: 'company_id',
      fields: ['name', 'website'],
      listed: { fields: ['name'], shown: nullableObject(Type.Object(company)) },
    },
  },
  title: {
    shown: OptionalText(255, { examples: ['Head of Purchasing'] }),
    listed: false,
    personal: true,
  },
  stage: { shown: OptionalText(64, { examples: ['lead'] }), counted: true, personal: true },
  source: {
    shown: OptionalText(255, { examples: ['trade fair'] }),
    listed: false,
    filtered: true,
    personal: true,
  },
  custom_fields: {
    shown: CustomFields({ examples: [{ region: 'EMEA' }] }),
    taken: CustomFieldsInput(),
    listed: false,
    encoding: 'json',
    default: {},
    personal: true,
  },
  tags: {
    shown: Tags({ examples: [['partner']] }),
    taken: TagsInput(),
    listed: false,
    encoding: 'json',
    default: [],
    personal: true,
  },
  created_at: dates.created_at,
  updated_at: { ...dates.updated_at, listed: false },
  ...owner,
  ...facts,
  ...unlisted_authors,
})

/** The list view. `company_id` and `company` are also null while the company is in the trash. */
export const ListedContact = listView('ListedContact', columns, 42)
export const Contact = detailView('Contact', columns, 42)
export type Contact = Static<typeof Contact>
export type ContactValues = Values<typeof columns>

export const ContactCreate = bodyOf(columns, 'create')
export const ContactUpdate = bodyOf(columns, 'update')

/** The filters of the list. Blank texts do not filter. */
export const contact_filters = {
  search: MaybeText({
    maxLength: 255,
    description:
      'Each word must occur anywhere in the first name, the last name or the e-mail. Case and accents are ignored. At least 4 digits also find a telephone number, or a part of it, however it is written.',
  }),
}
