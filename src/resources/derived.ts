import { type Column, eventPrefix, type Resource } from './resource.ts'

// Values that follow from the descriptions of the resources.

/** The resources, each one after those that it refers to or is part of. */
export function byDependency(resources: readonly Resource[]): Resource[] {
  const seen = new Set<Resource>()
  const ordered: Resource[] = []
  const add = (resource: Resource): void => {
    if (seen.has(resource)) return
    seen.add(resource)
    const needed = [...Object.values(resource.references), resource.part_of?.table]
    for (const other of resources) if (needed.includes(other.table)) add(other)
    ordered.push(resource)
  }
  for (const resource of resources) add(resource)
  return ordered
}

/**
 * The main resources: their records have a name and are found by it. They have saved views, tools of assistants and nodes
 * of n8n.
 */
export const mainOf = (resources: readonly Resource[]): Resource[] =>
  resources.filter(({ sort_name, subtitle }) => sort_name.length > 0 && subtitle !== undefined)

/** The field by which a resource's records refer to a record of a table: a reference or their owner. */
export function linkTo(resource: Resource, table: string): string | undefined {
  if (resource.part_of?.table === table) return resource.part_of.by
  return Object.entries(resource.references).find(([, of]) => of === table)?.[0]
}

/** The references to the records of a table: the resource that has it, and the field. */
export const referrersOf = (resources: readonly Resource[], table: string) =>
  resources.flatMap((resource) =>
    Object.entries(resource.references).flatMap(([field, of]) => (of === table ? [{ resource, field }] : [])),
  )

/** The lists of ids of the records of a table: the resource that has the list, the field, and its rows. */
export const idListsOf = (resources: readonly Resource[], table: string) =>
  resources.flatMap((resource) =>
    Object.entries(resource.columns).flatMap(([field, { ids }]) =>
      ids?.refers_to === table ? [{ resource, field, ids }] : [],
    ),
  )

/** Returns a function that finds the resource of an event such as `deal.won`; undefined for a ping. */
export function createResourceOfEvent(
  resources: readonly Resource[],
): (event: string) => Resource | undefined {
  const by_prefix = new Map(resources.map((resource) => [eventPrefix(resource), resource]))
  return (event) => by_prefix.get(event.split('.')[0] ?? '')
}

// Lists of the web app whose path does not have the name of the table.
const other_segments: Record<string, string> = { appointments: 'calendar' }

/** The first segment of the web app's path of a list, such as contacts. */
export const appSegment = ({ table }: Pick<Resource, 'table'>): string =>
  other_segments[table] ?? table.replaceAll('_', '-')

/** The first parts of the scopes of the resources, such as contacts, in their order. */
export const scopeNames = (resources: readonly Resource[]): string[] => [
  ...new Set(resources.map(({ scope }) => scope)),
]

type TextSchema = { maxLength?: number; items?: TextSchema; additionalProperties?: TextSchema | boolean }

/** The most characters of a text in a field: of the field itself, each tag, or each value of the custom fields. */
export function longestText({ shown, taken }: Column): number | undefined {
  for (const schema of [shown, taken] as TextSchema[]) {
    const { maxLength, items, additionalProperties: values } = schema ?? {}
    const longest =
      maxLength ?? items?.maxLength ?? (typeof values === 'object' ? values.maxLength : undefined)
    if (longest !== undefined) return longest
  }
  return undefined
}
