import { isDeepStrictEqual } from 'node:util'
import type { Changes } from './define.ts'

/** The differences between two detail views in the given fields; null when there are none. */
export function changesBetween(before: object, after: object, fields: readonly string[]): Changes | null {
  const old = before as Record<string, unknown>
  const current = after as Record<string, unknown>
  const changed_fields = fields.filter((field) => !isDeepStrictEqual(old[field], current[field]))
  if (!changed_fields.length) return null
  return { changed_fields, previous: Object.fromEntries(changed_fields.map((field) => [field, old[field]])) }
}
