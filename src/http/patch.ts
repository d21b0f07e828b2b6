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

const most_custom_bytes = 64 * 1024

const jsonBytes = (fields: CustomFields) => Buffer.byteLength(JSON.stringify(fields))

/**
 * What the schema cannot judge: the custom fields as they will be stored, all together (contract: reading and writing).
 * Earlier versions took larger ones. A record that has such fields may keep their size, or become smaller in steps.
 */
export function customFieldsProblems(
  stored: CustomFields | null | undefined,
  before: CustomFields = {},
): FieldProblem[] {
  if (!stored) return []
  const field = 'custom_fields'
  if (Object.keys(stored).length > 100)
    return [{ field, code: 'too_many', message: `${field} must have at most 100 entries.` }]
  const bytes = jsonBytes(stored)
  if (bytes > most_custom_bytes && bytes > jsonBytes(before))
    return [{ field, code: 'too_large', message: `${field} must have at most 64 KiB as JSON.` }]
  return []
}

const isRefused = (problems: readonly FieldProblem[]) =>
  problems.some(({ field }) => /^custom_fields(\.|$)/.test(field))

/** The same for a new record; what the schema refused is not looked at again. */
export const newCustomFieldsProblems = (body: Sent, problems: readonly FieldProblem[]): FieldProblem[] =>
  isRefused(problems) ? [] : customFieldsProblems(body.custom_fields)

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
  return {
    ...body,
    custom_fields:
      custom_fields === undefined || isRefused(problems)
        ? undefined
        : mergeCustomFields(current.custom_fields ?? {}, custom_fields),
    tags: tags === null ? [] : tags,
  }
}
