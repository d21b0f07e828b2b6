import { useMemo } from 'react'
import type { RecordKind } from '../../api/record-api.ts'
import type { Texts } from '../../texts/texts.ts'
import { endsOf } from '../../ui/filter-value.ts'
import type { Filter } from '../../ui/filters.tsx'
import type { Column } from '../../ui/table.tsx'
import { Ago } from '../../ui/values.tsx'
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
  sort: id,
  down: true,
  extra,
  cell: (row) => <Ago at={row[id]} />,
})

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
