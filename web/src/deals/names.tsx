import { useQuery } from '@tanstack/react-query'
import { api, dataOf } from '../api/client.ts'
import { fullName } from '../record/choices.ts'

type Kind = 'companies' | 'contacts'
type Waiting = { resolve: (name: string) => void; reject: (error: unknown) => void }

// All that one rendering asks for is asked together.
const gathered_ms = 10
// From so many on, one reading of the newest hundred finds most of them.
const worth_a_list = 3
const fresh_ms = 60_000

const waiting: Record<Kind, Map<number, Waiting[]>> = { companies: new Map(), contacts: new Map() }

/** A name by its id. The list of deals tells ids only, so those of a whole board are read in few requests. */
function nameOf(kind: Kind, id: number): Promise<string> {
  const asked = waiting[kind]
  if (asked.size === 0) setTimeout(() => answer(kind), gathered_ms)
  return new Promise((resolve, reject) => {
    asked.set(id, [...(asked.get(id) ?? []), { resolve, reject }])
  })
}

async function answer(kind: Kind) {
  const asked = waiting[kind]
  waiting[kind] = new Map()
  if (asked.size > worth_a_list) {
    const found = await newest(kind).catch(() => [])
    for (const { id, name } of found) {
      for (const { resolve } of asked.get(id) ?? []) resolve(name)
      asked.delete(id)
    }
  }
  for (const [id, those] of asked)
    one(kind, id).then(
      (name) => those.forEach(({ resolve }) => void resolve(name)),
      (error) => those.forEach(({ reject }) => void reject(error)),
    )
}

async function newest(kind: Kind): Promise<{ id: number; name: string }[]> {
  const params = { query: { per_page: 100, cursor: '' } }
  if (kind === 'companies') return dataOf(api.GET('/api/v1/companies', { params }))
  const contacts = await dataOf(api.GET('/api/v1/contacts', { params }))
  return contacts.map((contact) => ({ id: contact.id, name: fullName(contact) }))
}

async function one(kind: Kind, id: number): Promise<string> {
  const params = { path: { id } }
  return kind === 'companies'
    ? (await dataOf(api.GET('/api/v1/companies/{id}', { params }))).name
    : fullName(await dataOf(api.GET('/api/v1/contacts/{id}', { params })))
}

/** The name of a company or contact; undefined while it is read, or when there is none. */
export function useName(kind: Kind, id: number | null): string | undefined {
  const { data } = useQuery({
    queryKey: ['names', kind, id],
    queryFn: () => nameOf(kind, id as number),
    enabled: id !== null,
    staleTime: fresh_ms,
  })
  return data
}

/** The same, where a piece of a page is wanted. */
export function Named({ kind, id }: { kind: Kind; id: number | null }) {
  return useName(kind, id) ?? null
}
