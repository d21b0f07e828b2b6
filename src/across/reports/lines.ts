import { max_owners } from './fields.ts'

// Lines of a report by owner.

/** The id of a member, or null for the records that nobody owns. */
export type Owner = string | null

/** The owners with the most records, most first, as many as a report has lines for. */
export function largestOwners<Line extends { owner_id: Owner }>(
  lines: readonly Line[],
  sizeOf: (line: Line) => number,
): { owners: Owner[]; omitted: number } {
  const sizes = new Map<Owner, number>()
  for (const line of lines) sizes.set(line.owner_id, (sizes.get(line.owner_id) ?? 0) + sizeOf(line))
  const sorted = [...sizes].sort(([a, most], [b, more]) => more - most || ((a ?? '') < (b ?? '') ? -1 : 1))
  const owners = sorted.slice(0, max_owners).map(([owner]) => owner)
  return { owners, omitted: sorted.length - owners.length }
}

/** The lines of each of these owners, without owners that have none. */
export function byOwner<Line extends { owner_id: Owner }>(
  lines: readonly Line[],
  owners: readonly Owner[],
): [Owner, Line[]][] {
  const found = Map.groupBy(lines, ({ owner_id }) => owner_id)
  return owners.flatMap((owner): [Owner, Line[]][] => {
    const own = found.get(owner)
    return own ? [[owner, own]] : []
  })
}
