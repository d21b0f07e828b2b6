import { isDeepStrictEqual } from 'node:util'
import { distinctTexts } from '../../db/lists/same-text.ts'
import type { FieldProblem } from '../../errors.ts'
import type { Resource } from '../../resources/resource.ts'

// The rules of a merge. They use no database.

/** A record in the detail view. */
export type Fields = Record<string, unknown> & { id: number }

/** The record whose value each field gets: a name of a field, or custom_fields.KEY. */
export type Wanted = Readonly<Record<string, number>>

const max_tags = 50
const prefix = 'custom_fields.'
const united = ['tags', 'custom_fields']

const plainFields = ({ writable }: Pick<Resource, 'writable'>) =>
  writable.filter((name) => !united.includes(name))

/** The problems of `fields` in a body: unknown fields, and records that are not merged. */
export function wantedProblems(
  resource: Resource,
  wanted: Wanted,
  record_ids: readonly number[],
): FieldProblem[] {
  const known = new Set(plainFields(resource))
  const has_custom = resource.writable.includes('custom_fields')
  return Object.entries(wanted).flatMap(([name, id]): FieldProblem[] => {
    const field = `fields.${name}`
    if (!known.has(name) && !(has_custom && name.startsWith(prefix)))
      return [{ field, code: 'unknown_field', message: `${field} must name a field, or ${prefix}KEY.` }]
    if (!record_ids.includes(id))
      return [{ field, code: 'unknown_value', message: `${field} must be one of ${record_ids.join(', ')}.` }]
    return []
  })
}

/**
 * The fields of the survivor that a merge changes. A wanted value stays; else the survivor's; else the first one that is
 * not null, in the order of the others. Tags are united, and custom fields are merged key by key.
 */
export function planMerge(
  resource: Resource,
  survivor: Fields,
  others: readonly Fields[],
  wanted: Wanted,
): { body: Record<string, unknown>; problems: FieldProblem[] } {
  const all: [Fields, ...Fields[]] = [survivor, ...others]
  const body: Record<string, unknown> = {}
  for (const name of plainFields(resource)) {
    const value = chosen(all, wanted[name], (record) => record[name])
    if (!isDeepStrictEqual(value, survivor[name] ?? null)) body[name] = value
  }
  const custom = changedKeys(all, wanted)
  if (Object.keys(custom).length) body.custom_fields = custom
  const tags = distinctTexts(all.flatMap((record) => (record.tags as string[] | undefined) ?? []))
  if (tags.length > ((survivor.tags as string[] | undefined)?.length ?? 0)) body.tags = tags
  return { body, problems: tags.length > max_tags && body.tags ? [tagProblem(tags.length)] : [] }
}

const tagProblem = (count: number): FieldProblem => ({
  field: 'tags',
  code: 'too_many',
  message: `tags must have at most ${max_tags} entries. The records have ${count} together: remove some first.`,
})

/** The value of the wanted record, else the first one that is not null. */
function chosen(all: readonly Fields[], id: number | undefined, read: (record: Fields) => unknown): unknown {
  const wanted = id === undefined ? undefined : all.find((record) => record.id === id)
  if (wanted) return read(wanted) ?? null
  return all.map(read).find((value) => value !== null && value !== undefined) ?? null
}

type Custom = Record<string, unknown>
const customOf = (record: Fields) => (record.custom_fields ?? {}) as Custom
/** A custom field, null without it. A key may have the name of a property that every object has, such as constructor. */
const customValue = (record: Fields, key: string): unknown =>
  Object.hasOwn(customOf(record), key) ? customOf(record)[key] : null

/** The custom fields of the survivor that change; null removes a key. */
function changedKeys(all: readonly [Fields, ...Fields[]], wanted: Wanted): Custom {
  const [survivor] = all
  const changed: Custom = {}
  for (const key of new Set(all.flatMap((record) => Object.keys(customOf(record))))) {
    const value = chosen(all, wanted[prefix + key], (record) => customValue(record, key))
    if (!isDeepStrictEqual(value, customValue(survivor, key))) changed[key] = value
  }
  return changed
}

/** The changes of a merge in the survivor: its fields before and after. Of the custom fields, only changed keys. */
export type SurvivorChanges = { before: Record<string, unknown>; after: Record<string, unknown> }

/** The changes that an undo needs, from the survivor before the merge and the fields that the merge sets. */
export function survivorChanges(survivor: Fields, body: Record<string, unknown>): SurvivorChanges {
  const before: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(body))
    before[name] =
      name === 'custom_fields'
        ? Object.fromEntries(Object.keys(value as Custom).map((key) => [key, customValue(survivor, key)]))
        : survivor[name]
  return { before, after: body }
}

/**
 * The fields that put the survivor back where nobody has changed it since. Tags that the merge added go, others stay.
 * `is_changed`: some value stays, because it was changed.
 */
export function planUndo(
  survivor: Fields,
  { before, after }: SurvivorChanges,
): { body: Record<string, unknown>; is_changed: boolean } {
  const body: Record<string, unknown> = {}
  let is_changed = false
  for (const [name, value] of Object.entries(after)) {
    if (name === 'tags')
      body.tags = tagsBack(survivor.tags as string[], before.tags as string[], value as string[])
    else if (name === 'custom_fields') {
      const keys = Object.entries(value as Custom)
      const untouched = keys.filter(([key, set]) => isDeepStrictEqual(customValue(survivor, key), set))
      body.custom_fields = Object.fromEntries(
        untouched.map(([key]) => [key, (before.custom_fields as Custom)[key]]),
      )
      if (untouched.length < keys.length) is_changed = true
    } else if (isDeepStrictEqual(survivor[name], value)) body[name] = before[name]
    else is_changed = true
  }
  return { body, is_changed }
}

function tagsBack(current: string[], before: string[], after: string[]): string[] {
  if (isDeepStrictEqual(current, after)) return before
  return current.filter((tag) => before.includes(tag) || !after.includes(tag))
}
