// biome-ignore-all lint/suspicious/noExplicitAny: a test says itself what it expects in an answer
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engine } from '../engine.ts'
import { dataOf } from '../envelope.ts'
import { type Reply, useRapport } from '../harness.ts'
import { type Operation, valueFor } from '../operations.ts'
import { before } from '../use.ts'
import { type Requests, request_env, startRequests } from '../valid-requests.ts'

// Calls every GET operation of the document, also new ones, with records of the largest size. No answer is larger than
// 8 MiB, and every list can be read to its end.

const max_answer_bytes = 8 * 1024 * 1024
const api = '/api/v1'

const rapport = useRapport({ env: { ...request_env, WEBHOOK_RETRY_DELAYS: 'none' } })
let requests: Requests
before(async () => {
  requests = await startRequests(rapport)
})

const intervals = Array.from({ length: 48 }, (_, n) => {
  const hour = String(Math.floor(n / 2)).padStart(2, '0')
  return n % 2 ? { from: `${hour}:30`, to: `${hour}:45` } : { from: `${hour}:00`, to: `${hour}:15` }
})
const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']
// As many as a body of 50,000 names and values has room for.
const days = Array.from({ length: 180 }, (_, n) =>
  new Date(Date.UTC(2030, 0, 1 + n)).toISOString().slice(0, 10),
)

// The sizes are the same on both engines. PostgreSQL reads all lists to their end with small records.
const is_large = engine === 'sqlite'

// Limits that no schema has.
const largest_values: Record<string, unknown> = {
  custom_fields: Object.fromEntries(Array.from({ length: 15 }, (_, n) => [`field_${n}`, 'x'.repeat(4096)])),
  tags: Array.from({ length: 50 }, (_, n) => String(n).padEnd(64, 'x')),
  availability: Object.fromEntries(weekdays.map((day) => [day, intervals])),
  date_overrides: Object.fromEntries(days.map((day) => [day, intervals])),
  url: `http://127.0.0.1:9/${'x'.repeat(2000)}`,
}

/** The longest texts that a body may have, of characters that JSON writes in six bytes. */
function largestBody({ body }: Operation): Record<string, unknown> {
  const fields: Record<string, unknown> = {}
  if (!is_large) return fields
  for (const [name, schema] of Object.entries<any>(body?.properties ?? {})) {
    if (schema.readOnly || name === 'lost_reason') continue
    const plain = [schema.type].flat().includes('string') && !schema.format && !schema.pattern && !schema.enum
    if (name in largest_values) fields[name] = largest_values[name]
    else if (plain && schema.maxLength && name !== 'time_zone' && name !== 'owner_id')
      fields[name] = '\u0001'.repeat(schema.maxLength)
  }
  return fields
}

type Made = { id: number | string } & Record<string, any>
const largest = (path: string) => largestBody(requests.operation(`post ${path}`))

async function make(path: string, count: number, more: object = {}, pattern = path): Promise<Made[]> {
  const made: Made[] = []
  const bodies = Array.from({ length: count }, () => ({ ...largest(pattern), ...more })).values()
  const sender = async () => {
    for (const body of bodies) made.push(await requests.make(path, body))
  }
  await Promise.all(Array.from({ length: 4 }, sender))
  return made
}

const done = async (method: string, path: string, body?: object): Promise<any> =>
  dataOf(await rapport.call(method, api + path, body))

/** Fills the workspace; the paths of the records that have the most below them. */
async function fill(): Promise<Record<string, string>> {
  const [company] = (await make('/companies', 101)) as [Made]
  const of_company = { company_id: company.id }
  const [contact] = (await make('/contacts', 101, of_company)) as [Made]
  const of_both = { ...of_company, contact_id: contact.id }
  const [deal] = (await make('/deals', 101, of_both)) as [Made]
  await make(`/contacts/${contact.id}/notes`, 101, {}, '/contacts/{id}/notes')
  await make('/activities', 101, { ...of_both, deal_id: deal.id })
  const pages = await make('/booking-pages', 10)
  const [page, ...others] = pages as [Made, ...Made[]]
  await make('/appointments', 101, { contact_id: contact.id, booking_page_id: null })
  await make('/views', 101)
  await make('/webhooks', 60, { events: ['company.updated'] })
  await make('/keys', 101)
  // Updates have the values before and after, in events and in the audit log.
  const { custom_fields } = largest_values as any
  for (let n = 0; n < 20; n++) {
    const changed = { ...custom_fields, field_0: String(n).padEnd(4096, 'y') }
    for (const path of [`/companies/${company.id}`, `/contacts/${contact.id}`])
      await done('PUT', path, { custom_fields: changed })
    await done('POST', `/deals/${deal.id}/change-stage`, { stage: n % 2 ? 'demo' : 'proposal' })
  }
  for (const { id } of others.slice(5)) await done('DELETE', `/booking-pages/${id}`)
  const { id: delivery } = (await done('GET', '/deliveries?per_page=1'))[0]
  const [entry] = await done('GET', '/audit-log?kind=booking_pages&per_page=1')
  return {
    '/contacts/{id}': `/contacts/${contact.id}`,
    '/companies/{id}': `/companies/${company.id}`,
    '/deals/{id}': `/deals/${deal.id}`,
    '/booking-pages/{id}': `/booking-pages/${page.id}`,
    '/deliveries/{delivery_id}': `/deliveries/${delivery}`,
    '/audit-log/{id}': `/audit-log/${entry.id}`,
  }
}

/** Every answer of an operation, with all parameters that make it larger: each page, and each answer by cursor. */
async function readAll(
  operation: Operation,
  path: string,
  headers: Record<string, string>,
): Promise<{ sizes: number[] }> {
  const sizes: number[] = []
  const parameters = new Set(operation.query.map(({ name }) => name))
  const flags = operation.query.filter(({ schema }) => schema.enum?.includes('true'))
  const fixed: [string, string][] = flags.map(({ name }) => [name, 'true'])
  if (parameters.has('per_page')) fixed.push(['per_page', '100'])
  for (const { name, schema, required } of operation.query)
    if (required) fixed.push([name, String(valueFor(name, schema))])

  async function read(more: Record<string, string>): Promise<Reply> {
    const query = new URLSearchParams([...fixed, ...Object.entries(more)])
    const reply = await requests.send({ method: 'GET', path: `${path}?${query}`, headers })
    assert.equal(reply.status, 200, `${operation.name} ${query}: ${reply.text.slice(0, 300)}`)
    sizes.push(Buffer.byteLength(reply.text))
    return reply
  }
  const first = await read({})
  const { meta } = first.body
  if (!meta) return { sizes }
  let by_page = first.body.data.length
  for (let page = 2; parameters.has('page') && page <= meta.last_page; page++)
    by_page += (await read({ page: String(page) })).body.data.length
  const total: number | undefined = meta.total
  // A job writes the mails of notifications meanwhile.
  if ((await read({})).body.meta.total !== total) return readAll(operation, path, headers)
  if (parameters.has('page') || (total !== undefined && !meta.next_cursor))
    assert.equal(by_page, total, operation.name)
  if (!parameters.has('cursor')) return { sizes }
  const seen = new Set<string>()
  let by_cursor = 0
  for (let cursor: string | null = 'start'; cursor !== null; ) {
    const { body }: Reply = await read({ cursor })
    for (const { id, ids, reason, type, kind, entered_at } of body.data)
      seen.add(JSON.stringify([id, ids, reason, type, kind, entered_at]))
    by_cursor += body.data.length
    cursor = body.meta.has_more === false ? null : body.meta.next_cursor
  }
  assert.equal(seen.size, by_cursor, `${operation.name} tells a record twice`)
  if (total !== undefined) assert.equal(by_cursor, total, `${operation.name} leaves records out`)
  return { sizes }
}

test('no answer is larger than 8 MiB, whatever is asked of records as large as they may be, and every list can be read to its end', async (t) => {
  const rich = await fill()
  // Files are sent in parts as they are read: no part is large, and a file has any size.
  const is_file = ({ path }: Operation) => path.endsWith('/export')
  const gets = requests.operations.filter((one) => one.method === 'GET' && !is_file(one))
  assert.ok(gets.length > 40)
  const largest: [number, string][] = []
  for (const operation of gets) {
    const { path, headers } = await requests.request(operation)
    const known = Object.entries(rich).find(([pattern]) => operation.path.startsWith(api + pattern))
    const at = known ? operation.path.replace(known[0], known[1]) : path.replace(/\?.*/, '')
    const { sizes } = await readAll(operation, at.includes('{') ? path.replace(/\?.*/, '') : at, headers)
    const most = Math.max(...sizes)
    largest.push([most, operation.name])
    assert.ok(most <= max_answer_bytes, `${operation.name} answers ${most} bytes`)
  }
  largest.sort(([a], [b]) => b - a)
  for (const [bytes, name] of largest.slice(0, 8)) t.diagnostic(`${name}: ${bytes} bytes`)
})
