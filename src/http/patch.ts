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

/** A merge of two maps in order can still have too many keys; said only when nothing else is wrong with the field. */
export function customFieldsProblems(
  merged: CustomFields | undefined,
  problems: FieldProblem[],
): FieldProblem[] {
  const field = 'custom_fields'
  if (!merged || Object.keys(merged).length <= 100) return []
  if (problems.some((problem) => problem.field.startsWith(field))) return []
  return [{ field, code: 'too_many', message: `${field} must have at most 100 entries.` }]
}
