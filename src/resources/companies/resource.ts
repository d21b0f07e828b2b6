import { type Generated, sql } from 'kysely'
import type { Static } from 'typebox'
import { standardEvents } from '../../events/define.ts'
import { CustomFields, CustomFieldsInput, OptionalText, Phone, Text } from '../../http/fields.ts'
import { fact_orders } from '../fact-orders.ts'
import {
  bodyOf,
  dates,
  defineColumns,
  defineResource,
  detailView,
  listView,
  type TableOf,
  type Values,
} from '../resource.ts'
import { authors, facts, owner, tags } from '../shared-columns.ts'

const columns = defineColumns({
  name: {
    shown: Text(255, { examples: ['Acme Inc.'] }),
    taken: Text(255),
    required: true,
    personal: true,
  },
  website: {
    shown: OptionalText(255, { examples: ['https://acme.example'] }),
    filtered: 'by_key',
    key: 'website',
    personal: true,
  },
  industry: { shown: OptionalText(255, { examples: ['Manufacturing'] }), filtered: true, personal: true },
  phone: { shown: Phone({ examples: ['+1 202 555 0143'] }), key: 'phone', personal: true },
  address: { shown: OptionalText(255, { examples: ['1 Main Street, Springfield'] }), personal: true },
  custom_fields: {
    shown: CustomFields({ examples: [{ region: 'EMEA' }] }),
    taken: CustomFieldsInput(),
    // Version 0.1 accepted more than the 64 KiB of today's limit.
    listed: { up_to_bytes: 64 * 1024 },
    encoding: 'json',
    default: {},
    personal: true,
  },
  ...owner,
  ...tags,
  ...facts,
  ...authors,
  ...dates,
})

export const Company = detailView('Company', columns, 7)
export type Company = Static<typeof Company>
export const ListedCompany = listView('ListedCompany', columns, 7)
export const CompanyCreate = bodyOf(columns, 'create')
export const CompanyUpdate = bodyOf(columns, 'update')
export type CompanyValues = Values<typeof columns>

export const [companyCreated, companyUpdated, companyDeleted] = standardEvents('company', Company)

/** Companies: an extension of the interface. */
export const companies = defineResource({
  table: 'companies',
  noun: 'company',
  about: 'Companies that contacts and deals may belong to.',
  columns,
  title: { fields: ['name'] },
  subtitle: 'website',
  sort_name: ['name'],
  orders: [[{ field: 'name', by: sql.ref('sort_name') }], ...fact_orders],
  events: [companyCreated, companyUpdated, companyDeleted],
  has_timeline: true,
  duplicates: ['phone', 'name'],
})

declare module '../../db/tables.ts' {
  interface Tables {
    companies: TableOf<typeof columns> & { sort_name: Generated<string> }
  }
}
