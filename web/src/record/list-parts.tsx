import { useMemo } from 'react'
import type { RecordKind } from '../api/record-api.ts'
import { type Texts, useTexts } from '../texts/texts.ts'
import type { Filter } from '../ui/filters.tsx'
import type { Column } from '../ui/table.tsx'
import { Ago } from '../ui/values.tsx'
import type { OwnedKind } from './assign.tsx'
import { useSearch } from './choices.tsx'
import { useDefinitions } from './definitions.ts'
import { useLabels } from './kinds.ts'
import { RecordName } from './linked.tsx'

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
export function useReferenceFilters(list: RecordKind, fields: readonly [string, RecordKind][]): Filter[] {
  const labelOf = useLabels(list)
  const search = useSearch()
  return useMemo(
    () =>
      fields.map(([name, kind]) => ({
        name,
        label: labelOf(name),
        reference: { kind, search: search(kind) },
        show: (id) => <RecordName kind={kind} id={Number(id)} />,
      })),
    [fields, labelOf, search],
  )
}

/** Filters by the day of creation. */
export const createdFilters = (t: Texts): Filter[] => [
  { name: 'created_from', label: t.app.created_from, kind: 'date' },
  { name: 'created_to', label: t.app.created_to, kind: 'date' },
]

/** A filter by a tag. */
export const tagFilter = (t: Texts): Filter => ({ name: 'tag', label: t.fields.tag, many: true })

/** A filter by one custom field, written as field=value. */
export const customFieldFilter = (t: Texts): Filter => ({
  name: 'custom_field',
  label: t.record.custom_field,
  placeholder: t.record.custom_field_hint,
})

/** Filters by the lowest and the highest value of a field. */
export const rangeFilters = (t: Texts, name: string, label: string, kind: 'number' | 'date'): Filter[] => {
  const { at_least, at_most, from, until } = t.filters
  const [least, most] = kind === 'number' ? [at_least, at_most] : [from, until]
  return [
    { name: `${name}_from`, label: least(label), kind },
    { name: `${name}_to`, label: most(label), kind },
  ]
}

/** Filters by the defined custom fields of a kind. */
export function useDefinedFilters(kind: OwnedKind): Filter[] {
  const t = useTexts()
  const definitions = useDefinitions(kind)
  return useMemo(
    () =>
      definitions.map(({ key, label, type, options }): Filter => {
        const named = { name: `custom_fields[${key}]`, label }
        if (type === 'date') return { ...named, label: t.filters.on(label), kind: 'date' }
        if (type === 'number') return { ...named, label: t.filters.equal(label), kind: 'number' }
        const bools = [
          { value: 'true', label: t.app.yes },
          { value: 'false', label: t.app.no },
        ]
        if (type === 'boolean') return { ...named, options: bools }
        if (type === 'select')
          return { ...named, options: options.map((one) => ({ value: one, label: one })) }
        return { ...named, many: true }
      }),
    [definitions, t],
  )
}
