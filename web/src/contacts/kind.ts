import { PeopleIcon } from '@primer/octicons-react'
import { recordApi } from '../api/record-api.ts'
import type { Kind } from '../record/kinds.ts'
import { first_page } from '../record/list/list-query.ts'
import { fullName } from '../ui/full-name.ts'

export const contactsApi = recordApi('contacts')

export const contacts = {
  kind: 'contacts',
  noun: 'contact',
  path: '/contacts',
  icon: PeopleIcon,
  keys: 'g c',
  person: true,
  creates: true,
  owned: true,
  matches: ['email'],
  timeline: true,
  events: ['contact.created', 'contact.updated', 'contact.deleted'],
  stale: ['companies', 'notes', 'merges'],
  nameOf: fullName,
  lines: ({ title, company, email, phone, mobile, stage }) => [
    [title, company?.name].filter(Boolean).join(' · '),
    email,
    phone ?? mobile,
    stage,
  ],
  found: (email) => email,
  async search(words, per_page, _, signal) {
    const { data } = await contactsApi.list(
      words ? { search: words, per_page } : { sort: 'last_name', per_page },
      signal,
    )
    return data.map((contact) => ({
      id: contact.id,
      name: fullName(contact),
      detail: contact.company?.name ?? contact.email,
    }))
  },
  named(name) {
    const words = name.split(/\s+/)
    const last_name = words.pop()
    // A contact needs both names.
    return words.length ? { first_name: words.join(' '), last_name } : null
  },
  list: async () => (await import('./contacts-page.tsx')).ContactsPage,
  firstRows: (client) => client.prefetchQuery(contactsApi.listQuery(first_page)),
  record: async () => (await import('./contact-record.tsx')).ContactRecord,
  related: {
    to: ['companies'],
    sort: 'last_name',
    load: async () => (await import('./related.tsx')).related,
  },
} as const satisfies Kind<'contacts'>
