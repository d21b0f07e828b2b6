// biome-ignore-all lint/suspicious/noExplicitAny: a schema of the document is JSON of any shape
import type { Operation, Parameter } from './operations.ts'
import type { ValidRequest } from './valid-requests.ts'

type Schema = any
type Body = Record<string, unknown>

/** How many members of a workspace have the names that texts mention. */
export const members = 2000
export const memberName = (n: number): string => `Ana Ruiz ${n % members}`

/** A text of so many characters that mentions as many members as fit. */
export function mentions(length: number, from = 0): string {
  let text = ''
  for (let n = from; text.length < length; n++) text += `@${memberName(n)} é `
  return text.slice(0, length - 1).trim()
}

// Fields whose valid value says more than their schema.
const kept = /(^|_)(id|token|password|slug|url|secret|key|email|name|hours|time_zone|format)$/

const textOf = (length: number): string => (length > 300 ? mentions(length) : 'é'.repeat(length))

/** The largest value of a schema that is like a valid one; null keeps the valid one. */
function largest(name: string, schema: Schema, valid: unknown): unknown {
  const { enum: choices, const: fixed, format, pattern, readOnly } = schema
  const type = [schema.type].flat()[0]
  if (readOnly || choices || fixed !== undefined || format || pattern || kept.test(name)) return valid
  if (type === 'string') return textOf(Math.min(schema.maxLength ?? 255, 65_535))
  if (name === 'custom_fields') return customFields(60)
  if (type === 'array') return list(schema, Array.isArray(valid) ? valid : [])
  if (type === 'object' && schema.properties)
    return { ...(valid as Body), ...largestFields(schema, valid as Body) }
  return valid
}

function list({ items = {}, maxItems = 100 }: Schema, valid: unknown[]): unknown[] {
  const [first] = valid
  const choices = items.enum as unknown[] | undefined
  if (choices) return choices.slice(0, maxItems)
  if (items.type === 'string' && !items.format && !items.pattern)
    return Array.from({ length: maxItems }, (_, n) => `${n} `.padEnd(items.maxLength ?? 64, 'é'))
  return first === undefined || typeof first !== 'object'
    ? valid
    : Array.from({ length: maxItems }, () => largest('', items, first))
}

const largestFields = (schema: Schema, valid: Body): Body =>
  Object.fromEntries(
    Object.entries<Schema>(schema.properties ?? {})
      .filter(([name]) => name in valid)
      .map(([name, one]) => [name, largest(name, one, valid[name])]),
  )

/** Custom fields of so many KiB: 100 of them, the most that a record may have. */
export const customFields = (kib: number): Body =>
  Object.fromEntries(
    Array.from({ length: 100 }, (_, n) => [`k${n}`, 'x'.repeat(Math.floor((kib * 1024) / 100) - 10)]),
  )

/** The valid body of an operation with each field as large as is legal, without the fields that were refused so. */
export const largestBody = ({ body }: Operation, valid: Body, refused: ReadonlySet<string>): Body => ({
  ...valid,
  ...Object.fromEntries(
    Object.entries(largestFields(body ?? {}, valid)).filter(([name]) => !refused.has(name)),
  ),
})

const filter_length = 4000
const some = (make: (n: number) => string): string => {
  let text = make(1)
  for (let n = 2; text.length < filter_length - 70; n++) text += `,${make(n)}`
  return text
}

/** The longest value of a filter that takes several. */
function longest({ schema, description = '' }: Parameter & { description?: string }): string {
  const [, codes] = /The codes: ([\w, ]+)\./.exec(description) ?? []
  if (schema.enum) return String(schema.enum[0])
  if (codes) return codes.replaceAll(' ', '')
  if (/The (id|number), /.test(description)) return some((n) => `${n}`)
  if (/The day/.test(description)) return some((n) => new Date(n * 86_400_000).toISOString().slice(0, 10))
  if (/The time/.test(description)) return some((n) => new Date(n * 86_400_000).toISOString())
  return some((n) => `a text ${n}`)
}

// All headers and the address have 16 KiB.
const filters_at_once = 2

/** The queries of a GET with most rows, and with its longest filters. */
export function largestQueries({ query }: Operation): [what: string, query: [string, string][]][] {
  const has = (name: string) => query.some((one) => one.name === name)
  const rows = [
    ...(has('per_page') ? [['per_page', '100'] as [string, string]] : []),
    ...(has('details') ? [['details', 'true'] as [string, string]] : []),
  ]
  const filters = query.filter(({ schema }) => schema['x-filter'])
  const groups = Array.from({ length: Math.ceil(filters.length / filters_at_once) }, (_, n) =>
    filters.slice(n * filters_at_once, (n + 1) * filters_at_once),
  )
  const search: [string, string][] = has('search') ? [['search', 'ana '.repeat(63).trim()]] : []
  return [
    ['the most rows', rows],
    ...(search.length ? [['the longest search', [...rows, ...search]] as [string, [string, string][]]] : []),
    ...groups.map((group): [string, [string, string][]] => [
      `the longest ${group.map(({ name }) => name).join(' and ')}`,
      [...rows, ...group.map((one): [string, string] => [one.name, longest(one)])],
    ]),
  ]
}

const item_bytes = 8 * 1024 - 300

/** The largest items of a batch of a kind: 1,000 records, all linked to one contact and one company, in 8 MiB. */
export function largestItems(kind: string, ids: { contact_id: number; company_id: number }): object[] {
  const linked = kind === 'companies' ? {} : kind === 'contacts' ? { company_id: ids.company_id } : ids
  const tags = Array.from({ length: 50 }, (_, n) => `tag ${n}`)
  const fields: Record<string, (n: number) => object> = {
    contacts: (n) => ({ first_name: 'é'.repeat(100), last_name: `é ${n}`, email: `ana${n}@acme.example` }),
    companies: (n) => ({ name: `Acme ${n} ${'é'.repeat(100)}`, website: `https://acme${n}.example` }),
    deals: (n) => ({ name: `Order ${n} ${'é'.repeat(100)}`, value: n, stage: 'won' }),
    activities: (n) => ({ subject: `Call ${n} ${'é'.repeat(100)}`, body: mentions(3000, n * 200) }),
  }
  return Array.from({ length: 1000 }, (_, n) => {
    const data = { ...linked, ...fields[kind]?.(n), tags }
    const room = Math.floor((item_bytes - Buffer.byteLength(JSON.stringify(data))) / 1024)
    return { op: 'create', data: { ...data, custom_fields: customFields(Math.max(1, room)) } }
  })
}

export type Sent = Pick<ValidRequest, 'method' | 'path' | 'headers'> & { body?: string | Buffer }
