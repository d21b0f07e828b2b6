import { useMemo } from 'react'
import { searches } from '../record/choices.ts'
import { RecordName } from '../record/linked.tsx'
import { useTexts } from '../texts/texts.ts'
import type { Filter } from '../ui/filters.tsx'

/** What board and table can both be filtered by. */
export function useReferenceFilters(): Filter[] {
  const t = useTexts()
  return useMemo(
    () => [
      {
        ...{ name: 'company_id', label: t.deals.company },
        reference: { kind: 'companies', search: searches.companies },
        show: (id) => <RecordName kind="companies" id={Number(id)} />,
      },
      {
        ...{ name: 'contact_id', label: t.deals.contact },
        reference: { kind: 'contacts', search: searches.contacts },
        show: (id) => <RecordName kind="contacts" id={Number(id)} />,
      },
    ],
    [t],
  )
}
