import { OrganizationIcon } from '@primer/octicons-react'
import { recordApi } from '../api/record-api.ts'
import type { Kind } from '../record/kinds.ts'
import { first_page } from '../record/list/list-query.ts'
import { visible } from '../ui/visible.ts'

const companiesApi = recordApi('companies')

export const companies = {
  kind: 'companies',
  noun: 'company',
  path: '/companies',
  icon: OrganizationIcon,
  keys: 'g o',
  creates: true,
  owned: true,
  matches: ['name', 'website'],
  timeline: true,
  events: ['company.created', 'company.updated', 'company.deleted'],
  stale: ['notes', 'merges'],
  nameOf: ({ name }) => visible(name),
  lines: ({ industry, website, phone, address }) => [industry, website, phone, address],
  found: (website) => website,
  async search(words, per_page, _, signal) {
    const { data } = await companiesApi.list(
      { ...(words && { search: words }), sort: 'name', per_page },
      signal,
    )
    return data.map(({ id, name, industry }) => ({ id, name, detail: industry }))
  },
  named: (name) => ({ name }),
  list: async () => (await import('./companies-page.tsx')).CompaniesPage,
  firstRows: (client) => client.prefetchQuery(companiesApi.listQuery(first_page)),
  record: async () => (await import('./company-record.tsx')).CompanyRecord,
} as const satisfies Kind<'companies'>
