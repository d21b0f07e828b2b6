import type { Request } from './load.ts'

// What is asked of the servers; every call makes the next request of its kind.

let n = 0
const path = '/api/v1/contacts'
const headersOf = (key: string) => ({ Authorization: `Bearer ${key}` })

export const get =
  (key: string) =>
  (rest: string): Request => ({ method: 'GET', path: path + rest, headers: headersOf(key) })

/** A step through the records that is no small cycle, so that no cache of the last ones helps. */
export const someId = (contacts: number) => ((n++ * 7919) % contacts) + 1

export const oneOf = <T>(list: readonly T[]): T => list[n++ % list.length] as T

export function create(key: string): Request {
  n++
  const body = { first_name: `New${n}`, last_name: `Person${n}`, email: `new${n}@example.com` }
  return { method: 'POST', path, headers: headersOf(key), body: JSON.stringify(body) }
}
