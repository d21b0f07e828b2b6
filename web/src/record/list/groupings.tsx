import { type ReactNode, useMemo } from 'react'
import { type QueryOf, type RecordKind, recordApi } from '../../api/record-api.ts'
import { useFormats } from '../../app/formats.ts'
import { useTexts } from '../../texts/texts.ts'
import { type GroupedList, useGroups } from '../../ui/list-groups.ts'
import type { ListQuery } from '../../ui/list-page.tsx'
import { useAddress } from '../../ui/list-view.ts'
import type { Identified } from '../../ui/table-parts.tsx'
import { visible } from '../../ui/visible.ts'
import { useReadsMembers } from '../fields/members.ts'
import { OwnerName } from '../fields/owner.tsx'
import { useLabels } from '../kinds.ts'

/** A field by which a list can be grouped, and how its values are named. */
export type Grouping = { by: string; label: string; nameOf: (value: string | null) => ReactNode }

/** Groups by a text or a code. `none` names the records without a value. */
export const groupingBy = (
  by: string,
  label: string,
  none: string,
  show: (value: string) => ReactNode = visible,
): Grouping => ({ by, label, nameOf: (value) => (value === null ? none : show(value)) })

/** Groups by the owner. None for a person who cannot read the names. */
export function useOwnerGrouping(kind: RecordKind): Grouping[] {
  const t = useTexts()
  const labelOf = useLabels(kind)
  const reads = useReadsMembers()
  return useMemo(
    () =>
      reads
        ? [groupingBy('owner_id', labelOf('owner_id'), t.record.nobody, (id) => <OwnerName id={id} />)]
        : [],
    [reads, labelOf, t],
  )
}

/** Groups by the month of a date. */
export function useMonthGrouping(by: string, label: string, none: string): Grouping {
  const { longMonth } = useFormats()
  return useMemo(() => groupingBy(by, label, none, longMonth), [by, label, none, longMonth])
}

/** The grouping of a list in the address, and how to choose one. */
export type Grouped = {
  all: readonly Grouping[]
  current: Grouping | null
  choose: (by: string | null) => void
}

export function useGrouping(all: readonly Grouping[]): Grouped {
  const { address, change } = useAddress()
  return {
    all,
    current: all.find(({ by }) => by === address.group) ?? null,
    choose: (group) => void change({ group, page: null }),
  }
}

const of_rows = ['sort', 'page', 'per_page', 'cursor']

/** The groups of a list whose records meet `query`; null without a grouping. */
export function useGroupRows<Row extends Identified>(
  kind: RecordKind,
  { current }: Grouped,
  query: Record<string, unknown>,
  rowsQuery: (filter: Record<string, string>, page: number) => ListQuery<Row>,
) {
  const { zone } = useFormats()
  const by = current?.by
  const list = useMemo((): GroupedList<Row> | null => {
    if (by === undefined) return null
    const filters = Object.entries(query).filter(([name]) => !of_rows.includes(name))
    const asked = { ...Object.fromEntries(filters), by, time_zone: zone }
    return { by, rowsQuery, ...recordApi(kind).groupsQuery(asked as QueryOf<RecordKind>) }
  }, [kind, by, query, rowsQuery, zone])
  return useGroups(list)
}
