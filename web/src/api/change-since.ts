import { Problem, type Tagged } from './client.ts'
import { type ChangesOf, isStale, type RecordKind, type RecordOf, recordApi } from './record-api.ts'

type Fields = Record<string, unknown>

/** A field that both this person and somebody else have changed. A custom field has a path: `custom_fields.region`. */
export type Clash = { field: string; theirs: unknown; mine: unknown }
/** `theirs` keeps the stored values of these fields, `mine` overwrites them, null changes nothing. */
export type Choice = 'theirs' | 'mine' | null
export type Conflict<K extends RecordKind = RecordKind> = { kind: K; record: RecordOf<K>; clashes: Clash[] }
export type Choose = (conflict: Conflict) => Promise<Choice>

// Somebody may change the record again before the person has chosen.
const most_tries = 5
// These belong together: half of a change would be another time.
const times = ['start_at', 'end_at']

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const same = (one: unknown, other: unknown) => JSON.stringify(one ?? null) === JSON.stringify(other ?? null)

/** The fields of a change that somebody else has changed since, to other values. */
function clashesOf(base: Fields, now: Fields, changes: Fields): Clash[] {
  const found = Object.entries(changes).flatMap(([field, mine]): Clash[] => {
    const before = base[field]
    const theirs = now[field]
    if (isObject(mine) && field === 'custom_fields')
      return clashesOf((before ?? {}) as Fields, (theirs ?? {}) as Fields, mine).map((clash) => ({
        ...clash,
        field: `${field}.${clash.field}`,
      }))
    return same(before, theirs) || same(theirs, mine) ? [] : [{ field, theirs, mine }]
  })
  if (!found.some(({ field }) => times.includes(field)) || !times.every((field) => field in changes))
    return found
  const others = found.filter(({ field }) => !times.includes(field))
  return [...times.map((field) => ({ field, theirs: now[field], mine: changes[field] })), ...others]
}

/** A change without the fields that keep the values of others. */
export function without(changes: Fields, clashes: readonly Clash[]): Fields {
  const left = { ...changes }
  for (const { field } of clashes) {
    const [, key] = /^custom_fields\.(.+)$/s.exec(field) ?? []
    if (key === undefined) delete left[field]
    else {
      const { [key]: _, ...others } = left.custom_fields as Fields
      if (Object.keys(others).length) left.custom_fields = others
      else delete left.custom_fields
    }
  }
  return left
}

/** The error of a change whose conflict the person has left open. */
export const undecided = () => new Problem(412, 'precondition_failed', '')

/**
 * Changes a record that may have changed since `base` was read. Changes of other fields stay. For a field that
 * somebody else has changed too, `choose` decides. Resolves to the stored record.
 */
export async function changeSince<K extends RecordKind>(
  kind: K,
  base: RecordOf<K> & Tagged,
  changes: ChangesOf<K>,
  choose: Choose,
): Promise<RecordOf<K> & Tagged> {
  const { change, read } = recordApi(kind)
  const { id } = base as unknown as { id: number }
  let known = base
  let wanted = changes as Fields
  for (let tries = 1; ; tries++) {
    try {
      // A row of a list has no tag: it is compared first.
      if (known.etag) return await change(id, wanted as ChangesOf<K>, known.etag)
    } catch (error) {
      if (!isStale(error) || tries === most_tries) throw error
    }
    const record = await read(id)
    const clashes = clashesOf(known as Fields, record as Fields, wanted)
    const choice = clashes.length ? await choose({ kind, record, clashes } as Conflict) : 'mine'
    if (choice === null) throw undecided()
    if (choice === 'theirs') wanted = without(wanted, clashes)
    if (Object.keys(wanted).length === 0) return record
    known = record
  }
}
