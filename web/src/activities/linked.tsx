import { queryOptions, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, dataOf } from '../api/client.ts'
import { fullName, searchCompanies, searchContacts, searchDeals } from '../record/choices.ts'
import { ReferenceField } from '../record/reference-field.tsx'
import type { Choice } from '../ui/reference.tsx'

export type LinkKind = 'contacts' | 'companies' | 'deals' | 'booking_pages'

/** How a record of each kind is found by words, read by its id, and where its page is. */
export const link_kinds: Record<
  LinkKind,
  { path: string; search: (text: string) => Promise<Choice[]>; name: (id: number) => Promise<string> }
> = {
  contacts: {
    path: '/contacts',
    search: searchContacts,
    name: async (id) =>
      fullName(await dataOf(api.GET('/api/v1/contacts/{id}', { params: { path: { id } } }))),
  },
  companies: {
    path: '/companies',
    search: searchCompanies,
    name: async (id) => (await dataOf(api.GET('/api/v1/companies/{id}', { params: { path: { id } } }))).name,
  },
  deals: {
    path: '/deals',
    search: searchDeals,
    name: async (id) => (await dataOf(api.GET('/api/v1/deals/{id}', { params: { path: { id } } }))).name,
  },
  booking_pages: {
    path: '/booking-pages',
    search: async (text) => {
      const pages = await dataOf(api.GET('/api/v1/booking-pages', { params: { query: { per_page: 100 } } }))
      const wanted = text.toLowerCase()
      return pages
        .filter(({ title, slug }) => `${title} ${slug}`.toLowerCase().includes(wanted))
        .map(({ id, title, slug }) => ({ id, name: title, detail: slug }))
    },
    name: async (id) =>
      (await dataOf(api.GET('/api/v1/booking-pages/{id}', { params: { path: { id } } }))).title,
  },
}

/** The name of a record that another one links to; kept for a while, since lists show the same ones again and again. */
const nameQuery = (kind: LinkKind, id: number) =>
  queryOptions({
    queryKey: [kind, 'name', id],
    queryFn: () => link_kinds[kind].name(id),
    staleTime: 60_000,
  })

/** What a record's link is called; undefined while it is awaited. */
export function useLinkedName(kind: LinkKind, id: number | null): string | undefined {
  return useQuery({ ...nameQuery(kind, id ?? 0), enabled: id !== null }).data
}

/** A linked record by its name, as a link to its page. */
export function Linked({ kind, id }: { kind: LinkKind; id: number | null }) {
  const name = useLinkedName(kind, id)
  if (id === null) return null
  return (
    <Link to={`${link_kinds[kind].path}/${id}`} className="linked">
      {name ?? '…'}
    </Link>
  )
}

type FieldProps = {
  label: string
  kind: LinkKind
  id: number | null
  /** Stores the id; without it the field is read only. */
  onSave?: ((id: number | null) => Promise<unknown>) | undefined
}

/** A fact that is a link, known by its id. */
export function LinkField({ label, kind, id, onSave }: FieldProps) {
  const name = useLinkedName(kind, id)
  const { path, search } = link_kinds[kind]
  return (
    <ReferenceField
      label={label}
      kind={kind}
      search={search}
      value={id === null ? null : { id, name: name ?? '…' }}
      href={id === null ? undefined : `${path}/${id}`}
      onSave={onSave && ((choice) => onSave(choice?.id ?? null))}
    />
  )
}
