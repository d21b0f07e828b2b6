import type { Request } from './load.ts'

let n = 0
const path = '/api/v1/contacts'
const headersOf = (key: string) => ({ Authorization: `Bearer ${key}` })

export const get =
  (key: string) =>
  (rest: string): Request => ({ method: 'GET', path: path + rest, headers: headersOf(key) })

/** The next id in a long cycle through all contacts, so that a small cache cannot help. */
export const someId = (contacts: number) => ((n++ * 7919) % contacts) + 1

export const oneOf = <T>(list: readonly T[]): T => list[n++ % list.length] as T

const write = (key: string, method: string, path: string, body: object): Request => ({
  method,
  path,
  headers: headersOf(key),
  body: JSON.stringify(body),
})

export function create(key: string): Request {
  n++
  const body = { first_name: `New${n}`, last_name: `Person${n}`, email: `new${n}@example.com` }
  return write(key, 'POST', path, body)
}

export const update = (key: string, id: number): Request =>
  write(key, 'PUT', `${path}/${id}`, { phone: `+49 30 ${n++}` })
