import { useMemo } from 'react'
import { useOwnerFilter } from '../record/fields/owner.tsx'
import { useLabels } from '../record/kinds.ts'
import { choiceFilter, commonFilters, textFilters, useReferenceFilters } from '../record/list/list-parts.tsx'
import { useTexts } from '../texts/texts.ts'
import type { Filter } from '../ui/filters.tsx'

const references = [
  ['contact_id', 'contacts'],
  ['deal_id', 'deals'],
  ['booking_page_id', 'booking_pages'],
] as const

/** The filters of the calendar. It asks for a range of times itself, and its line has no room for a search. */
export function useAppointmentFilters(): Filter[] {
  const t = useTexts()
  const labelOf = useLabels('appointments')
  const by_reference = useReferenceFilters('appointments', references)
  const by_owner = useOwnerFilter('appointments')
  return useMemo(
    () => [
      choiceFilter('status', labelOf('status'), t.calendar.statuses),
      ...by_reference,
      by_owner,
      { name: 'search', label: labelOf('title'), word: t.filters.contains, single: true },
      ...textFilters(labelOf, 'type'),
      ...commonFilters(t),
    ],
    [t, labelOf, by_reference, by_owner],
  )
}
