import { useMemo } from 'react'
import { useOwnerFilter } from '../record/fields/owner.tsx'
import { useLabels } from '../record/kinds.ts'
import {
  choiceFilter,
  commonFilters,
  textFilters,
  timeFilter,
  useReferenceFilters,
} from '../record/list/list-parts.tsx'
import { useTexts } from '../texts/texts.ts'
import { endsOf } from '../ui/filter-value.ts'
import type { Filter } from '../ui/filters.tsx'
import { references } from './deals.ts'
import { open_stages, type Stage, stages } from './stages.ts'

/** The filters of deals. */
export function useDealFilters(): Filter[] {
  const t = useTexts()
  const labelOf = useLabels('deals')
  const by_reference = useReferenceFilters('deals', references)
  const by_owner = useOwnerFilter('deals')
  return useMemo(() => {
    const close_date: Filter = {
      name: 'expected_close_date',
      label: labelOf('expected_close_date'),
      kind: 'day',
      relative: 'due',
      nullable: true,
      ends: endsOf('expected_close', 'expected_close_date'),
    }
    const namesOf = (shown: readonly Stage[]) =>
      Object.fromEntries(shown.map((stage) => [stage, t.deals.stages[stage]]))
    return [
      choiceFilter('stage', labelOf('stage'), namesOf(stages)),
      choiceFilter('status', labelOf('status'), t.deals.statuses),
      amountFilter('value', labelOf('value'), 'money', true),
      amountFilter('probability', labelOf('probability'), 'percent'),
      close_date,
      // Only with or without: the activity itself is not a value.
      { name: 'next_activity', label: labelOf('next_activity'), kind: 'time', nullable: true },
      { ...choiceFilter('stale', t.deals.stale, { true: t.app.yes }), single: true },
      { name: 'stage_since', label: labelOf('stage_since'), kind: 'time', ends: endsOf('stage_since') },
      choiceFilter('furthest_stage', labelOf('furthest_stage'), namesOf(open_stages)),
      timeFilter('closed_at', labelOf('closed_at'), 'closed_at', true),
      ...by_reference,
      by_owner,
      ...textFilters(labelOf, 'lost_reason', 'priority', 'source'),
      ...commonFilters(t),
    ]
  }, [t, labelOf, by_reference, by_owner])
}

const amountFilter = (
  name: string,
  label: string,
  format: 'money' | 'percent',
  nullable = false,
): Filter => ({
  name,
  label,
  format,
  nullable,
  kind: 'number',
  ends: endsOf(name),
})
