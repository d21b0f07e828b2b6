import { useMemo } from 'react'
import { useOwnerFilter } from '../record/fields/owner.tsx'
import { useLabels } from '../record/kinds.ts'
import { choiceFilter, commonFilters, timeFilter, useReferenceFilters } from '../record/list/list-parts.tsx'
import { useTexts } from '../texts/texts.ts'
import type { Filter } from '../ui/filters.tsx'
import type { Show } from './lists.ts'
import { links } from './queries.ts'

/** The filters of activities. Each switch but "all" has a status of its own. */
export function useActivityFilters(show: Show): Filter[] {
  const t = useTexts()
  const labelOf = useLabels('activities')
  const by_reference = useReferenceFilters('activities', links)
  const by_owner = useOwnerFilter('activities')
  return useMemo(
    () => [
      choiceFilter('type', labelOf('type'), t.activities.types),
      ...(show === 'all' ? [choiceFilter('status', labelOf('status'), t.activities.statuses)] : []),
      { ...timeFilter('due_at', labelOf('due_at'), 'due', true), relative: 'due' },
      timeFilter('completed_at', labelOf('completed_at'), 'completed_at', true),
      ...by_reference,
      by_owner,
      ...commonFilters(t),
    ],
    [show, t, labelOf, by_reference, by_owner],
  )
}
