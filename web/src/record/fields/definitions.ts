import { queryOptions, useQueries, useQuery } from '@tanstack/react-query'
import { allOf } from '../../api/all.ts'
import { answerOf, api, type Schemas } from '../../api/client.ts'
import { useMay } from '../../app/session.ts'
import { isDay } from '../../app/zones.ts'
import { type OwnedKind, useOwnedKinds } from '../kinds.ts'

/** The definition of a custom field. */
export type Definition = Schemas['CustomField']
export type CustomValue = string | number | boolean
/** Changed fields; null removes one. Other fields stay. */
export type CustomChanges = Record<string, CustomValue | null>

// Every record shows them. A change of a definition is read at once.
const kept_ms = 60_000
const none: readonly Definition[] = []

/** The definitions of a kind, in their order. */
export const definitionsQuery = (resource: OwnedKind) =>
  queryOptions({
    queryKey: ['custom_fields', resource],
    queryFn: ({ signal }) =>
      allOf((page) =>
        answerOf(api.GET('/api/v1/custom-fields', { params: { query: { resource, ...page } }, signal })),
      ),
    staleTime: kept_ms,
  })

/**
 * The query of the definitions of a kind. A role that may not read them, and a kind without custom fields, never get an
 * answer.
 */
export function useDefinitionsQuery(kind: string) {
  const owned = useOwnedKinds().some((one) => one === kind)
  const enabled = useMay()('workspace:read') && owned
  return useQuery({ ...definitionsQuery(kind as OwnedKind), enabled })
}

/** The definitions of a kind, in their order; none while they are read. */
export const useDefinitions = (kind: string): readonly Definition[] => useDefinitionsQuery(kind).data ?? none

/** The definitions of all kinds; none while they are read. */
export function useAllDefinitions(): readonly Definition[] {
  const enabled = useMay()('workspace:read')
  return useQueries({
    queries: useOwnedKinds().map((kind) => ({ ...definitionsQuery(kind), enabled })),
    combine: (results) => results.flatMap(({ data }) => data ?? []),
  })
}

/** Whether an input of the type can show a value. Values are older than a definition. */
export function fits({ type }: Pick<Definition, 'type'>, value: unknown): boolean {
  if (type === 'number') return typeof value === 'number'
  if (type === 'boolean') return typeof value === 'boolean'
  return typeof value === 'string' && (type !== 'date' || isDay(value))
}

/** The custom fields of a new record: those with a value. A required check box that is not set is false. */
export function newFields(definitions: readonly Definition[], values: CustomChanges) {
  const fields = definitions.map(({ key, type, required }): [string, CustomValue | null] => {
    const value = values[key]
    if (type === 'boolean') return [key, value || (required ? false : null)]
    return [key, (typeof value === 'string' ? value.trim() : value) || (value === 0 ? 0 : null)]
  })
  return Object.fromEntries(fields.filter(([, value]) => value !== null))
}
