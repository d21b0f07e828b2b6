// biome-ignore-all lint/suspicious/noExplicitAny: a schema of the document is JSON of any shape
import type { Operation } from './operations.ts'

type Schema = any
/** A body or a query that costs its sender little and was, or could be, dear to the service. */
export type Hostile = { what: string; text: string }

// Names and values: just below the limit of their number.
const most_parts = 48_000

/** A list or an object of as many units as fit into the room, in bytes. */
function filled(
  open: string,
  unit: (n: number) => string,
  close: string,
  room: number,
  most = most_parts,
): string {
  const units: string[] = []
  let left = room - open.length - close.length
  for (let n = 0; n < most; n++) {
    const text = unit(n)
    left -= Buffer.byteLength(text) + 1
    if (left < 0) break
    units.push(text)
  }
  return open + units.join(',') + close
}

/** Bodies that say nothing about a schema. */
function wholeBodies(room: number): Hostile[] {
  const bodies: Record<string, string> = {
    'open lists': '['.repeat(room),
    'open objects': '{"a":'.repeat(room / 5),
    'a list of empty lists': filled('[', () => '[]', ']', room, room),
    'empty lists in an unknown field': filled('{"unknown":[', () => '[]', ']}', room, most_parts / 2),
    'deep lists in an unknown field': filled(
      '{"unknown":[',
      () => '['.repeat(50) + ']'.repeat(50),
      ']}',
      room,
      900,
    ),
    'unknown fields': filled('{', (n) => `"k${n}":1`, '}', room, most_parts / 2),
    'unknown fields with a NUL': filled('{', (n) => `"\\u0000${n}":"\\ud800"`, '}', room, most_parts / 2),
    'the same field many times': filled('{', () => '"name":"a"', '}', room, most_parts / 2),
    'a suspicious name over many objects': filled(
      '{"constructor":{},"unknown":[',
      () => '{"a":1}',
      ']}',
      room,
      20_000,
    ),
    blanks: ' '.repeat(room),
    'a text without an end': `{"name":"${'a'.repeat(room - 20)}`,
    'escapes without an end': `{"name":"${'\\u0041'.repeat(room / 6 - 10)}`,
  }
  return Object.entries(bodies).map(([what, text]) => ({ what, text }))
}

const texts: Record<string, string> = {
  letters: 'a',
  'combining characters': '\u0301',
  escapes: '\\u0000',
  'signs of e-mails': '@a.',
  hyphens: 'a-',
  slashes: '/',
  percents: '%41',
  'blanks in words': 'a ',
}

/** Bodies that have the same nonsense in every field, each with its part of the room. */
function everyField(names: string[], room: number): Hostile[] {
  const part = Math.floor(room / names.length) - 100
  const body = (what: string, value: string) => ({
    what,
    text: `{${names.map((name) => `${JSON.stringify(name)}:${value}`).join()}}`,
  })
  if (!names.length) return []
  return [
    ...Object.entries(texts).map(([what, sign]) =>
      body(`${what} in every field`, `"${sign.repeat(Math.floor(part / Buffer.byteLength(sign)))}!"`),
    ),
    body('digits in every field', '9'.repeat(part)),
    body(
      'lists in every field',
      filled('[', () => '{}', ']', part, most_parts / 2 / names.length),
    ),
    body(
      'objects in every field',
      filled('{', (n) => `"${n}":[]`, '}', part, most_parts / 3 / names.length),
    ),
  ]
}

const dayOf = (n: number) => new Date(Date.UTC(2026, 10, 23 + n)).toISOString().slice(0, 10)

/**
 * The largest value of a schema, with `leaf` for every member that is neither an object nor a list. It has at most
 * `left` members.
 */
function largest(schema: Schema, leaf: (schema: Schema) => unknown, left: { members: number }): unknown {
  const [type] = [schema.type].flat()
  const many = (count: number, make: (n: number) => unknown) => {
    const made = []
    for (let n = 0; n < count && left.members-- > 0; n++) made.push(make(n))
    return made
  }
  if (type === 'array')
    return many(schema.maxItems ?? most_parts, () => largest(schema.items ?? {}, leaf, left))
  if (type === 'object' && typeof schema.additionalProperties === 'object') {
    const [example = 'k'] = Object.keys(schema.examples?.[0] ?? {})
    const name = (n: number) => (/^\d{4}-/.test(example) ? dayOf(n) : `k${n}`)
    const member = (n: number) => [name(n), largest(schema.additionalProperties, leaf, left)]
    return Object.fromEntries(many(schema.maxProperties ?? most_parts, member) as [string, unknown][])
  }
  if (type === 'object' && schema.properties)
    return Object.fromEntries(
      Object.entries(schema.properties).map(([name, one]) => [name, largest(one, leaf, left)]),
    )
  left.members--
  return leaf(schema)
}

const longText = ({ type, maxLength = 5 }: Schema) =>
  [type].flat().includes('string') ? 'é'.repeat(Math.min(maxLength, 300)) : 5

/** Bodies that are valid but for one list or object. */
function everyContainer(schema: Schema, valid: Record<string, unknown>, room: number): Hostile[] {
  const containers = Object.entries<Schema>(schema.properties ?? {}).filter(
    ([, { type, readOnly }]) => !readOnly && [type].flat().some((one) => one === 'array' || one === 'object'),
  )
  return containers.flatMap(([name, one]) => {
    const { [name]: _, ...rest } = valid
    const with_field = (what: string, value: string): Hostile => ({
      what: `${what} in ${name}`,
      text: `{${Object.entries(rest)
        .map(([other, given]) => `${JSON.stringify(other)}:${JSON.stringify(given)},`)
        .join('')}${JSON.stringify(name)}:${value}}`,
    })
    const limited = (leaf: (schema: Schema) => unknown) =>
      JSON.stringify(largest(one, leaf, { members: 12_000 }))
    const left = room - JSON.stringify(rest).length - name.length - 10
    const values: Record<string, string> = {
      objects: filled('[', () => '{}', ']', left, most_parts / 2),
      texts: filled('[', (n) => `" ${n} "`, ']', left),
      names: filled('{', (n) => `"${n}":{}`, '}', left, most_parts / 3),
      'lists by name': filled('{', (n) => `"${n}":[[]]`, '}', left, most_parts / 4),
      'one long name': `{"${'a'.repeat(left - 10)}":1}`,
      'as much as is allowed, all of it wrong,': limited(() => null),
      'as much as is allowed': limited(longText),
    }
    return Object.entries(values)
      .map(([what, value]) => with_field(what, value))
      .filter(({ text }) => Buffer.byteLength(text) <= room)
  })
}

const roomOf = ({ caller }: Operation) => (caller === 'anyone' ? 16 : 1024) * 1024

// Made once for each room, because that takes 0.1 s.
const whole_bodies = new Map<number, Hostile[]>()

/** Bodies that make no sense for an operation. */
export function nonsenseBodies(operation: Operation): Hostile[] {
  const { body } = operation
  if (!body) return []
  const room = roomOf(operation)
  const whole = whole_bodies.get(room) ?? wholeBodies(room)
  whole_bodies.set(room, whole)
  const names = Object.entries<Schema>(body.properties ?? {}).flatMap(([name, { readOnly }]) =>
    readOnly ? [] : [name],
  )
  return [...whole, ...everyField(names, room)]
}

/** Bodies that are valid but for one list or object, from a body that is valid; some are as large as is allowed. */
export const largeBodies = (operation: Operation, valid: Record<string, unknown> = {}): Hostile[] =>
  operation.body ? everyContainer(operation.body, valid, roomOf(operation)) : []

/** Hostile addresses of an operation, from one that is valid: long values, and many of them. */
export function hostileAddresses({ query }: Operation, path: string): (Hostile & { name?: string })[] {
  const bytes = 12_000
  const [plain = ''] = path.split('?')
  const values: Record<string, string> = {
    letters: 'a'.repeat(bytes),
    words: 'ab+'.repeat(80),
    digits: '9'.repeat(bytes),
    escapes: '%C3%A9'.repeat(bytes / 6),
    'wrong escapes': '%e9x'.repeat(bytes / 4),
    'a place of many parts': Buffer.from(`["-id of contacts",${'1,'.repeat(700)}1]`).toString('base64url'),
  }
  const names = query.flatMap(({ name }) => (name === 'custom_fields' ? ['custom_fields[a]'] : [name]))
  const each = Object.entries(values).flatMap(([what, value]) =>
    (names.length ? names : ['unknown']).map((name) => ({
      what: `${what} as ${name}`,
      name,
      text: `${plain}?${encodeURIComponent(name)}=${value}`,
    })),
  )
  const many = (count: number, pair: (n: number) => string) =>
    `${plain}?${Array.from({ length: count }, (_, n) => pair(n)).join('&')}`
  return [
    ...each,
    { what: 'thousands of parameters', text: many(2000, (n) => `p${n}`) },
    { what: '50 custom fields', text: many(50, (n) => `custom_fields[k${n}]=1`) },
    { what: 'a long path', text: `${plain}${'/a'.repeat(bytes / 2)}` },
    { what: 'a long id', text: plain.replace(/\/[^/]*$/, `/${'%41'.repeat(bytes / 3)}`) },
  ]
}

/** Headers that are read by patterns or split. */
export const hostile_headers: Record<string, string>[] = [
  { 'if-match': '"a",'.repeat(3000), 'if-none-match': 'x' },
  { 'if-none-match': `${' '.repeat(12_000)}x` },
  { 'idempotency-key': 'k'.repeat(12_000) },
  { 'accept-language': ';q=1,'.repeat(2400) },
  { 'x-forwarded-for': '1.1.1.1,'.repeat(1500) },
  { 'user-agent': `${' ('.repeat(6000)}x` },
]
