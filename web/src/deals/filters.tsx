import { useMemo } from 'react'
import { searchCompanies, searchContacts } from '../record/choices.ts'
import { useTexts } from '../texts/texts.ts'
import type { Filter } from '../ui/filters.tsx'
import { Named } from './names.tsx'

/** What board and table can both be filtered by. */
export function useReferenceFilters(): Filter[] {
  const t = useTexts()
  return useMemo(
    () => [
      {
        ...{ name: 'company_id', label: t.deals.company },
        reference: { kind: 'companies', search: searchCompanies },
        show: (id) => <Named kind="companies" id={Number(id)} />,
      },
      {
        ...{ name: 'contact_id', label: t.deals.contact },
        reference: { kind: 'contacts', search: searchContacts },
        show: (id) => <Named kind="contacts" id={Number(id)} />,
      },
    ],
    [t],
  )
}
