import { useMemo } from 'react'
import type { Schemas } from '../../api/client.ts'
import type { RecordKind } from '../../api/record-api.ts'
import type { Texts } from '../../texts/texts.ts'
import { endsOf } from '../../ui/filter-value.ts'
import type { Filter } from '../../ui/filters.tsx'
import type { Column } from '../../ui/table.tsx'
import { Ago, Money } from '../../ui/values.tsx'
import { RecordName } from '../fields/linked.tsx'
import { useLabels } from '../kinds.ts'
import { useSearch } from '../search.ts'

/** A date column. */
export const dateColumn = <Id extends 'created_at' | 'updated_at'>(
  t: Texts,
  id: Id,
  extra = true,
): Column<Record<Id, string>> => ({
  id,
  label: t.fields[id],
  width: 112,
  sort: id,
  down: true,
  extra,
  cell: (row) => <Ago at={row[id]} />,
})

type Facts = Schemas['Contact'] | Schemas['Company']

/** The columns of contacts and companies that follow from activities and deals. */
export const factColumns = (
  labelOf: LabelOf,
): Column<Pick<Facts, 'last_contacted_at' | 'next_activity_at' | 'open_deals_value'>>[] => [
  ...(['last_contacted_at', 'next_activity_at'] as const).map((id) => ({
    id,
    label: labelOf(id),
    sort: id,
    down: id === 'last_contacted_at',
    extra: true,
    cell: (row: Pick<Facts, typeof id>) => <Ago at={row[id]} />,
  })),
  {
    id: 'open_deals_value',
    label: labelOf('open_deals_value'),
    sort: 'open_deals_value',
    down: true,
    number: true,
    extra: true,
    cell: ({ open_deals_value }) => <Money value={open_deals_value || null} />,
  },
]

/** The filters by these columns. */
export const factFilters = (labelOf: LabelOf): Filter[] => [
  timeFilter('last_contacted_at', labelOf('last_contacted_at'), 'last_contacted_at', true),
  timeFilter('next_activity_at', labelOf('next_activity_at'), 'next_activity_at', true),
  {
    name: 'open_deals_value',
    label: labelOf('open_deals_value'),
    kind: 'number',
    format: 'money',
    ends: endsOf('open_deals_value'),
  },
]

/** The column of ids. */
export const numberColumn = (t: Texts): Column<{ id: number }> => ({
  id: 'id',
  label: t.app.number,
  sort: 'id',
  down: true,
  number: true,
  extra: true,
  cell: ({ id }) => id,
})

/** Filters by references: pairs of field and kind. `fields` must be constant. */
export function useReferenceFilters(
  list: RecordKind,
  fields: readonly (readonly [string, RecordKind])[],
): Filter[] {
  const labelOf = useLabels(list)
  const search = useSearch()
  return useMemo(
    () =>
      fields.map(([name, kind]) => ({
        name,
        label: labelOf(name),
        kind: 'reference' as const,
        nullable: true,
        reference: { kind, search: search(kind) },
        show: (id) => <RecordName kind={kind} id={Number(id)} />,
      })),
    [fields, labelOf, search],
  )
}

type LabelOf = (field: string) => string

/** Filters by texts that a record may lack. */
export const textFilters = (labelOf: LabelOf, ...names: string[]): Filter[] =>
  names.map((name) => ({ name, label: labelOf(name), nullable: true }))

/** A filter by codes. */
export const choiceFilter = (name: string, label: string, names: Record<string, string>): Filter => ({
  name,
  label,
  kind: 'choice',
  options: Object.entries(names).map(([value, label]) => ({ value, label })),
})

/** A filter by a time. `short` is the short name of its range. */
export const timeFilter = (name: string, label: string, short: string, nullable = false): Filter => ({
  name,
  label,
  nullable,
  kind: 'time',
  relative: true,
  ends: endsOf(...new Set([short, name])),
})

/** The filters of all lists of records: tag, day of creation and of the last change. */
export const commonFilters = (t: Texts): Filter[] => [
  { name: 'tag', label: t.fields.tag, nullable: true },
  timeFilter('created_at', t.fields.created_at, 'created'),
  timeFilter('updated_at', t.fields.updated_at, 'updated'),
]
