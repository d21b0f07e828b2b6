import { isDeepStrictEqual } from 'node:util'
import type { FieldProblem } from './errors.ts'
import type { CustomFields } from './fields.ts'

/**
 * The fields of a body that really change a record: those that differ from what GET shows. So what GET returned can
 * be edited and put back, and a reference that reads null because its target is in the trash stays.
 */
export function changesOf<T extends object>(body: T, shown: object, writable: readonly string[]): T {
  const changed = Object.entries(body).filter(
    ([name, value]) =>
      writable.includes(name) &&
      value !== undefined &&
      !isDeepStrictEqual(value, (shown as Record<string, unknown>)[name]),
  )
  return Object.fromEntries(changed) as T
}

/** Custom fields after a PUT: merged key by key, null removes a key; null in place of the object clears all. */
export function mergeCustomFields(current: CustomFields, sent: CustomFields | null): CustomFields {
  if (sent === null) return {}
  const merged = Object.entries({ ...current, ...sent }).filter(([, value]) => value !== null)
  // JSON stores -0 as 0.
  return Object.fromEntries(merged.map(([key, value]) => [key, value === 0 ? 0 : value]))
}

/** What a merge shows too late for the schema: two maps in order can have too many keys together. */
export function customFieldsProblems(merged: CustomFields | undefined): FieldProblem[] {
  const field = 'custom_fields'
  if (!merged || Object.keys(merged).length <= 100) return []
  return [{ field, code: 'too_many', message: `${field} must have at most 100 entries.` }]
}

type Sent = { custom_fields?: CustomFields | null; tags?: string[] | null }

/**
 * A body of a PUT as the record will have it: custom fields merged, null as the empty list of tags. Custom fields that
 * the schema refused are left out: a text of a megabyte would become a million keys.
 */
export function mergedBody<T extends Sent>(
  body: T,
  current: { custom_fields?: CustomFields },
  problems: readonly FieldProblem[],
): T {
  const { custom_fields, tags } = body
  const refused = problems.some(({ field }) => /^custom_fields(\.|$)/.test(field))
  return {
    ...body,
    custom_fields:
      custom_fields === undefined || refused
        ? undefined
        : mergeCustomFields(current.custom_fields ?? {}, custom_fields),
    tags: tags === null ? [] : tags,
  }
}
