import { part_size } from '../api/all.ts'
import { browser_zone } from '../app/formats.ts'
import type { Session } from '../app/session.ts'
import { first_page } from '../record/list/list-query.ts'
import { allOfHome } from './requests.ts'

type Asked = readonly [path: string, query?: object]

const part = { page: 1, per_page: part_size }
const of_frame: Asked[] = [
  ['/api/v1/members', part],
  ['/api/v1/notifications', { unread: 'true', per_page: 1 }],
]
const of_contacts: Asked[] = [
  ['/api/v1/contacts', first_page],
  ['/api/v1/view-tabs'],
  ['/api/v1/views'],
  ['/api/v1/custom-fields', { resource: 'contacts', ...part }],
]

const addressesOf = (asked: readonly Asked[]): string[] =>
  [...asked, ...of_frame].map(([path, query]) =>
    query ? `${path}?${new URLSearchParams(query as Record<string, string>)}` : path,
  )

/** The requests of Home, and of the contacts without a view, which every role may send. */
export const firstReads = ({ user }: Session): Record<string, string[]> => ({
  '/': addressesOf(allOfHome(user.time_zone ?? browser_zone)),
  '/contacts': addressesOf(of_contacts),
})
