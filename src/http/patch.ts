import { isDeepStrictEqual } from 'node:util'

/**
 * The fields of a body that differ from the answer of GET. So a client can send an edited answer of GET: a reference
 * that reads null because its target is in the trash stays.
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
