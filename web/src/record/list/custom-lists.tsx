import { useMemo } from 'react'
import { useFormats } from '../../app/formats.ts'
import { type Texts, useTexts } from '../../texts/texts.ts'
import { customKeys, customName, endsOf } from '../../ui/filter-value.ts'
import { type Filter, otherFilter } from '../../ui/filters.tsx'
import { dated, useAddress } from '../../ui/list-view.ts'
import { writeNumber } from '../../ui/number.ts'
import type { Column } from '../../ui/table.tsx'
import { Badge } from '../../ui/values.tsx'
import { websiteOf } from '../../ui/website.ts'
import { type Definition, fits, useDefinitions, useDefinitionsQuery } from '../fields/definitions.ts'
import type { OwnedKind } from '../kinds.ts'
import { choiceFilter } from './list-parts.tsx'

/** Filters by custom fields: the defined ones by their types, and those of the address. */
export function useCustomFilters(kind: OwnedKind): Filter[] {
  const t = useTexts()
  const { address } = useAddress()
  const definitions = useDefinitions(kind)
  // A text, because a change of the address makes a new array.
  const keys = JSON.stringify(customKeys(address))
  return useMemo(() => {
    const defined = definitions.map((one) => definedFilter(one, t))
    const known = new Set(defined.map(({ name }) => name))
    const others = (JSON.parse(keys) as string[]).map((key) => otherFilter(key))
    return [...defined, ...others.filter(({ name }) => !known.has(name))]
  }, [definitions, keys, t])
}

function definedFilter({ key, label, type, options }: Definition, t: Texts): Filter {
  const name = customName(key)
  const shared = { name, label, nullable: true, custom: true }
  if (type === 'date') return { ...shared, kind: 'day', relative: true, ends: endsOf(name) }
  if (type === 'number') return { ...shared, kind: 'number', ends: endsOf(name) }
  if (type === 'boolean')
    return { ...shared, ...choiceFilter(name, label, { true: t.app.yes, false: t.app.no }) }
  if (type === 'select')
    return { ...shared, kind: 'choice', options: options.map((one) => ({ value: one, label: one })) }
  return shared
}

/** The columns of defined custom fields. A reader chooses them in the menu of columns. */
export function useDefinedColumns(kind: OwnedKind): Column<WithCustomFields>[] {
  const definitions = useDefinitions(kind)
  return useMemo(
    () =>
      definitions.map((definition) => ({
        // Ids are listed with commas in the address.
        id: `custom_fields.${encodeURIComponent(definition.key)}`,
        label: definition.label,
        sort: `custom_fields.${definition.key}`,
        number: definition.type === 'number',
        extra: true,
        cell: ({ custom_fields }) => (
          <DefinedValue definition={definition} value={custom_fields?.[definition.key]} />
        ),
      })),
    [definitions],
  )
}

/**
 * The orders of a list: those of its columns and of defined custom fields. While the definitions are read, the
 * order of the address is taken for one of them.
 */
export function useSorts(kind: OwnedKind, columns: readonly Pick<Column<never>, 'sort'>[]): string[] {
  const { address } = useAddress()
  const { data, isPending } = useDefinitionsQuery(kind)
  const said = isPending ? address.sort?.replace(/^-/, '') : undefined
  const unknown = said?.startsWith('custom_fields.') ? said : undefined
  return useMemo(
    () => [
      ...dated,
      ...columns.flatMap(({ sort }) => sort ?? []),
      ...(data ?? []).map(({ key }) => `custom_fields.${key}`),
      ...(unknown ? [unknown] : []),
    ],
    [columns, data, unknown],
  )
}

/** A row of a list. Large custom fields are left out of lists. */
export type WithCustomFields = { custom_fields?: Record<string, unknown> }

/** The value of a defined field in a table. */
function DefinedValue({ definition, value }: { definition: Definition; value: unknown }) {
  const t = useTexts()
  const formats = useFormats()
  if (value === undefined || value === null) return null
  const text = String(value)
  const { type } = definition
  // An older value that the type does not accept.
  if (!fits(definition, value)) return typeof value === 'object' ? JSON.stringify(value) : text
  if (type === 'number') return writeNumber(Number(value), formats.locale)
  if (type === 'boolean') return value ? t.app.yes : t.app.no
  if (type === 'date') return formats.date(text)
  if (type === 'select') return <Badge>{text}</Badge>
  const href = type === 'url' ? websiteOf(text) : type === 'email' ? `mailto:${text}` : null
  if (!href) return text
  return (
    <a
      href={href}
      className="quiet-link"
      {...(type === 'url' && { target: '_blank', rel: 'noopener noreferrer' })}
    >
      {text}
    </a>
  )
}
