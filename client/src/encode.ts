import type { Options, Route, Settings } from './request.ts'
import { etagOf } from './responses.ts'

// From the arguments of an operation to the parts of a request.

/** The path with its values. Throws for values that would make the path of another operation. */
export function pathOf(path: string, values: readonly unknown[]): string {
  const left = [...values]
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(left.shift() ?? '')
    if (value === '') throw new TypeError(`${name} is missing.`)
    if (/^\.{1,2}$/.test(value)) throw new TypeError(`${name} cannot be ${value}`)
    return encodeURIComponent(value)
  })
}

type Value = string | number | boolean | Date

/**
 * A filter of a list. A text is sent as it is: `'won,lost'` is one of two values, `'!won'` all others. The texts of an
 * array are taken literally, so give it what a person has typed. null, also in an array: records without a value.
 */
export type Filter = Value | readonly (Value | null)[] | null

function textOf(value: Filter): string {
  if (value instanceof Date) return value.toISOString()
  if (!Array.isArray(value)) return String(value)
  return value.map((one) => (one === null ? 'null' : literal(textOf(one)))).join(',')
}

/** One value as the API reads it. The API removes blanks at the end, so one keeps a last backslash from the comma. */
const literal = (text: string): string =>
  text
    .trim()
    .replaceAll(/[,!]/g, '\\$&')
    .replace(/^\\*null$/, '\\$&')
    .replace(/\\$/, '\\ ')

/** The query. An object is written as `custom_fields[region]=EMEA`. */
export function queryOf(query: object = {}): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query).flatMap(parametersOf)) {
    if (value === undefined) continue
    // As an empty text it would be no filter, and match every record.
    if (Array.isArray(value) && value.length === 0)
      throw new TypeError(`${name} is an empty list, which no record matches. Leave the call out.`)
    if (Array.isArray(value) && value.some((one) => typeof one === 'string' && !one.trim()))
      throw new TypeError(`${name} has an empty text, which would match every record. Leave it out.`)
    search.append(name, textOf(value))
  }
  const text = search.toString()
  return text && `?${text}`
}

type Parameter = [name: string, value: Filter | undefined]

const parametersOf = ([name, value]: [string, unknown]): Parameter[] =>
  isGroup(value)
    ? Object.entries(value).map(([key, one]): Parameter => [`${name}[${key}]`, one])
    : [[name, value as Filter | undefined]]

const isGroup = (value: unknown): value is Record<string, Filter> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)

/** The headers and the body. */
export function contentOf(
  { key, headers }: Settings,
  { body: media, repeatable }: Route,
  body: unknown,
  { if_match, idempotency_key, headers: more }: Options,
): { headers: Record<string, string>; body?: unknown } {
  const is_json = media === 'application/json'
  const has_body = media !== undefined && body !== undefined
  return {
    headers: {
      authorization: `Bearer ${key}`,
      // Only fetch knows the boundary of a form.
      ...(has_body && media !== 'multipart/form-data' && { 'content-type': media }),
      ...(repeatable && { 'idempotency-key': idempotency_key ?? crypto.randomUUID() }),
      ...(if_match && { 'if-match': typeof if_match === 'string' ? if_match : etagOf(if_match) }),
      ...headers,
      ...more,
    },
    ...(has_body && { body: is_json ? JSON.stringify(body) : body }),
  }
}
