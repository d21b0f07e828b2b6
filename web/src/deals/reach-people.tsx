import { useQuery } from '@tanstack/react-query'
import { type RecordOf, type RowOf, recordApi } from '../api/record-api.ts'
import { useMay } from '../app/session.ts'
import { fullName } from '../ui/full-name.ts'
import { Reach } from '../ui/reach.tsx'

const contactsApi = recordApi('contacts')

// A menu of more people is not a choice at a glance. The page of the company has all.
const most_people = 10

const asPerson = (contact: RecordOf<'contacts'> | RowOf<'contacts'>) => ({
  name: fullName(contact),
  email: contact.email,
  // A list has no mobile number.
  phone: contact.phone,
  mobile: 'mobile' in contact ? contact.mobile : null,
})

/** Calls and writes to the contact of a deal; of a deal without a contact, to those of its company. */
export function ReachPeople({ deal: { contact, company } }: { deal: RecordOf<'deals'> }) {
  const reads = useMay()('contacts:read')
  const one = useQuery({ ...contactsApi.query(contact?.id ?? 0), enabled: reads && contact !== null })
  const query = {
    company_id: String(company?.id ?? 0),
    sort: 'last_name',
    per_page: most_people,
  } as const
  const many = useQuery({ ...contactsApi.listQuery(query), enabled: reads && !contact && company !== null })
  const people = contact ? (one.data ? [one.data] : []) : (many.data?.data ?? [])
  return <Reach people={people.map(asPerson)} />
}
