import { type Static, Type } from 'typebox'
import {
  Body,
  CustomFields,
  CustomFieldsInput,
  Id,
  Listed,
  OptionalText,
  Text,
  Timestamp,
} from '../../http/fields.ts'

const text = {
  website: OptionalText(255, { examples: ['https://acme.example'] }),
  industry: OptionalText(255, { examples: ['Manufacturing'] }),
  phone: OptionalText(64, { examples: ['+1 202 555 0143'] }),
  address: OptionalText(255, { examples: ['1 Main Street, Springfield'] }),
}

/** The detail view. */
export const Company = Type.Object(
  {
    id: Id({ examples: [7] }),
    name: Text(255, { examples: ['Acme Inc.'] }),
    ...text,
    custom_fields: CustomFields({ examples: [{ region: 'EMEA' }] }),
    created_at: Timestamp(),
    updated_at: Timestamp(),
  },
  { title: 'Company' },
)
export type Company = Static<typeof Company>

/** The list view: the same, but for custom fields of more than 64 KiB, which older versions took. */
export const ListedCompany = Type.Object(
  { ...Company.properties, custom_fields: Listed(Company.properties.custom_fields, '64 KiB') },
  { title: 'ListedCompany' },
)
export type ListedCompany = Static<typeof ListedCompany>

/** What a person may change; everything else of the detail view is read-only. */
export const company_fields = ['name', 'website', 'industry', 'phone', 'address', 'custom_fields'] as const

const fields = { name: Text(255), ...text, custom_fields: CustomFieldsInput() }
const read_only = Object.keys(Company.properties)
export const CompanyCreate = Body(fields, read_only, ['name'])
export const CompanyUpdate = Body(fields, read_only)
