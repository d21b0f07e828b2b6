import type { Seal } from '../../db/seal.ts'
import type { FieldCode, FieldProblem } from '../../errors.ts'

/** Stands for the value of a stored header in answers and in the log. In a body it keeps the stored value. */
export const hidden = '***'

export type Headers = Record<string, string>

const max_name = 100
const max_bytes = 8192

// A token, and printable ASCII without blanks at the ends (RFC 9110, 5.5 and 5.6.2).
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const printable = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/
const reserved =
  /^(?:host|content-.*|x-service-.*|webhook-.*|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|expect)$/

const reserved_text =
  'is set by Rapport or by the connection. Host, Content-*, X-Service-*, webhook-*, Proxy-*, Connection, Keep-Alive, TE, Trailer, Transfer-Encoding, Upgrade and Expect cannot be set'

/** The problems of own headers, by RFC 9110. `stored` has the names of the headers whose values are kept. */
export function headerProblems(headers: Headers | null | undefined, stored: Headers): FieldProblem[] {
  const problems: FieldProblem[] = []
  const names = new Set<string>()
  const kept = namesOf(stored)
  // The schema reports other types.
  const sent = typeof headers === 'object' && !Array.isArray(headers) ? headers : {}
  for (const [name, value] of Object.entries(sent ?? {})) {
    if (typeof value !== 'string') continue
    const field = `headers.${name.slice(0, max_name)}`
    const add = (code: FieldCode, text: string) =>
      problems.push({ field, code, message: `${field} ${text}.` })
    const lower = name.toLowerCase()
    if (name.length > max_name || !token.test(name))
      add('invalid_format', `must be a header name of at most ${max_name} characters`)
    else if (reserved.test(lower)) add('reserved', reserved_text)
    else if (names.has(lower)) add('duplicate', 'is listed twice. Case does not matter in header names')
    else if (value === hidden && !kept.has(lower))
      add('not_found', 'has no stored value that *** could keep. Send the value')
    else if (!printable.test(value))
      add('invalid_format', 'must be printable ASCII, without blanks at its ends')
    names.add(lower)
  }
  if (JSON.stringify(headers ?? {}).length > max_bytes)
    problems.push({
      field: 'headers',
      code: 'too_long',
      message: `headers must have at most ${max_bytes} characters together.`,
    })
  return problems
}

/**
 * The problems of stored values that a new url would send to another origin. Nobody can read these values in an answer.
 * So nobody may send them to an address of their own either.
 */
export function otherOriginProblems(headers: Headers | null | undefined, stored: Headers): FieldProblem[] {
  const kept = namesOf(stored)
  const problem = (field: string, text: string): FieldProblem => ({
    field,
    code: 'other_origin',
    message: `url has another origin, which would get the stored ${text}.`,
  })
  if (!kept.size) return []
  if (headers === undefined)
    return [problem('headers', 'headers. Send headers with their values, or {} to remove them')]
  return Object.entries(headers ?? {}).flatMap(([name, value]) =>
    value === hidden && kept.has(name.toLowerCase())
      ? [problem(`headers.${name}`, 'value. Send the value, or leave this header out')]
      : [],
  )
}

const namesOf = (headers: Headers) =>
  new Map(Object.keys(headers).map((name) => [name.toLowerCase(), name] as const))

/** The stored text of headers: their names, and their encrypted values. Null for none. */
export function sealHeaders(headers: Headers | null, stored: string | null, seal: Seal): string | null {
  const before = parse(stored)
  const names = namesOf(before)
  const sealed = Object.entries(headers ?? {}).map(([name, value]) => {
    const old = before[names.get(name.toLowerCase()) ?? '']
    const same = old !== undefined && (value === hidden || seal.open(old) === value)
    return [name, same ? old : seal.seal(value)]
  })
  return sealed.length ? JSON.stringify(Object.fromEntries(sealed)) : null
}

const parse = (stored: string | null): Headers => (stored === null ? {} : JSON.parse(stored))

const mapped = (headers: Headers, value: (of: string) => string): Headers =>
  Object.fromEntries(Object.entries(headers).map(([name, of]) => [name, value(of)]))

/** Stored headers as answers show them. */
export const shownHeaders = (stored: string | null): Headers => mapped(parse(stored), () => hidden)

/** Stored headers with their values. */
export const openHeaders = (stored: string | null, seal: Seal): Headers | null =>
  stored === null ? null : mapped(parse(stored), seal.open)
