import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { withoutUnseen } from '../src/db/lists/same-text.ts'
import { resources } from '../src/resources/index.ts'
import { problems } from './envelope.ts'
import { type Reply, useRapport } from './harness.ts'
import { canBeStored, hostile_texts } from './hostile-texts.ts'
import { smallestBody } from './operations.ts'
import { useOwner } from './people.ts'
import { register } from './webhooks.ts'

const rapport = useRapport()
const owner = useOwner(rapport)

// biome-ignore lint/suspicious/noExplicitAny: the document is read as it is
type Json = any
type Fields = Record<string, { max: number; required: boolean }>

const { paths, components } = JSON.parse(
  readFileSync(new URL('../docs/openapi.json', import.meta.url), 'utf8'),
)
const resolve = (schema: Json): Json =>
  schema.$ref ? components.schemas[schema.$ref.split('/').at(-1)] : schema

/** The fields of an operation that take any text: no list of values, no format, no pattern. */
function textFields(operation: Json): Fields {
  const body = operation.requestBody?.content['application/json']?.schema
  const { properties = {} } = body ? resolve(body) : {}
  const found: Fields = {}
  for (const [name, one] of Object.entries<Json>(properties)) {
    const schema = resolve(one)
    const types = [schema.type].flat()
    if (!types.includes('string') || schema.enum || schema.format || schema.pattern || schema.readOnly)
      continue
    found[name] = { max: schema.maxLength ?? Number.POSITIVE_INFINITY, required: !types.includes('null') }
  }
  return found
}

const writable = Object.entries<Json>(paths).flatMap(([path, operations]) =>
  ['post', 'put']
    .filter((method) => operations[method])
    .map((method) => ({
      name: `${method.toUpperCase()} ${path.replace('/api/v1', '')}`,
      fields: textFields(operations[method]),
    })),
)

// These are not for showing, or are judged by rules of their own.
const judged = new Set([
  ...['POST /session', 'POST /setup', 'POST /profile/password', 'POST /password-reset'],
  // Stores nothing for long, and answers the same to each text.
  'POST /password-reset/request',
  ...['POST /invitations/look-up', 'POST /invitations/accept'],
  // Declines a request, which only a visitor can make. Its reason is stored like that of a cancellation.
  'POST /appointments/{id}/decline',
  // Its key takes no brackets; a PUT tries the label.
  'POST /custom-fields',
  // An empty name is that of the host, and credentials are never trimmed: src/busy/busy.test.ts.
  'POST /busy-calendars',
  'PUT /busy-calendars/{calendar_id}',
  // Takes the id of a member only.
  'POST /members/{user_id}/reassign',
])
const judged_fields = new Set([
  'owner_id',
  'url',
  'secret',
  'current_password',
  'currency',
  'time_zone',
  'query',
  'scopes',
])

const times = { start_at: '2030-01-08T12:00:00Z', end_at: '2030-01-08T13:00:00Z' }
// A workspace has few of these.
const limited = new Set([
  'POST /webhooks',
  'POST /booking-pages',
  'POST /custom-fields',
  'POST /calendar-feeds',
])

let slugs = 0
const definition = () => ({ resource: 'contacts', type: 'text', key: `key-${++slugs}` })
/** The needs of an operation beside the texts; for a change, the record. */
const needs: Record<string, () => object> = {
  'POST /appointments': () => times,
  'POST /booking-pages': () => ({ slug: `page-${++slugs}`, time_zone: 'UTC' }),
  'POST /custom-fields': () => ({ resource: 'contacts', type: 'text' }),
  'POST /views': () => ({ list: 'contacts', query: 'stage=a' }),
  'POST /webhooks': () => ({ url: 'http://127.0.0.1:9/hook', events: ['contact.created'] }),
}
const bodies: Record<string, () => object> = {
  ...Object.fromEntries(resources.map((one) => [one.path.replace('/api/v1/', ''), () => smallestBody(one)])),
  contacts: () => ({ first_name: 'Ana', last_name: 'Ruiz' }),
  companies: () => ({ name: 'Acme' }),
  deals: () => ({ name: 'Deal' }),
  activities: () => ({ subject: 'Call' }),
  appointments: () => ({ title: 'Visit', ...times }),
  'booking-pages': () => ({ slug: `page-${++slugs}`, title: 'Page', time_zone: 'UTC' }),
  'calendar-feeds': () => ({ name: 'Phone' }),
  'custom-fields': definition,
  views: () => ({ list: 'contacts', name: 'View', query: 'stage=a' }),
}

type Ask = (body: object) => Promise<Reply>
// By an operation, how a text is sent, and where it is read again.
type Way = {
  send: Ask
  read?: () => Promise<Reply>
  fields: Fields
  shown?: Record<string, string>
  silent?: boolean
}

/** Calls what belongs to a person with a session, and the rest with the key. */
const callerOf = (path: string) =>
  /^\/(profile|workspaces?|view-tabs|calendar-feeds)/.test(path)
    ? owner
    : (verb: string, at: string, body?: object) => rapport.call(verb, `/api/v1${at}`, body)

async function wayOf(name: string, fields: Fields): Promise<Way> {
  const [method = '', path = ''] = name.split(' ')
  const call = callerOf(path)
  const at = await filled(path)
  const send: Ask = (body) => call(method, at, { ...needs[name]?.(), ...body })
  if (path.endsWith('/cancel')) {
    // Only the first reason counts.
    const { reason } = fields
    const cancel: Ask = async (body) => rapport.call('POST', `/api/v1${await filled(path)}`, body)
    return { send: cancel, fields: { reason: reason! }, shown: { reason: 'cancel_reason' } }
  }
  if (path.endsWith('/change-stage')) {
    // A deal that enters lost needs a reason.
    const lose: Ask = async (body) =>
      rapport.call('POST', `/api/v1${await filled(path)}`, { stage: 'lost', ...body })
    return { send: lose, fields }
  }
  // Its answer is who is signed in, and where.
  if (name === 'POST /workspaces')
    return { send, fields, read: () => owner('GET', '/workspace'), silent: true }
  return { send, fields, ...(method === 'PUT' && { read: () => call('GET', at) }) }
}

/** The path with the ids of new records in it. */
async function filled(path: string): Promise<string> {
  const [, resource = '', id] = path.split('/')
  if (!id?.startsWith('{')) return path
  if (resource === 'view-tabs') return path.replace(id, 'contacts')
  if (resource === 'webhooks')
    return path.replace(id, (await register(rapport.call, { url: 'http://127.0.0.1:9/hook' })).id)
  const made = await callerOf(path)('POST', `/${resource}`, bodies[resource]?.())
  assert.equal(made.status, 201, `${resource}: ${made.text}`)
  const at = path.replace(id, made.body.data.id)
  if (!at.includes('{note_id}')) return at
  const note = await rapport.call('POST', `/api/v1/${resource}/${made.body.data.id}/notes`, { body: 'A' })
  return at.replace('{note_id}', note.body.data.id)
}

/** A text as its field shows it, by the contract; undefined: it is refused. */
function expected(text: string, { max, required }: Fields[string]): string | null | undefined {
  if (!canBeStored(text)) return undefined
  const trimmed = text.trim()
  if (trimmed === '') return required ? undefined : null
  return [...trimmed].length > max ? undefined : trimmed
}

// Of these, characters that nobody sees are taken off.
const numbers = new Set(['phone', 'mobile'])

const operations = writable.filter(({ name, fields }) => Object.keys(fields).length > 0 && !judged.has(name))

// All of them by `npm run faults`; else each operation has its quarter, so that this takes seconds.
// A person owns at most 100 workspaces, so these are never tried with all.
const all = process.env.FAULT_REPORT !== undefined

for (const [index, { name, fields }] of operations.entries()) {
  const free = Object.fromEntries(Object.entries(fields).filter(([field]) => !judged_fields.has(field)))
  // A reason is for deals that are lost.
  if (name === 'POST /deals' || name === 'PUT /deals/{id}') delete free.lost_reason
  if (name.endsWith('/change-stage')) free.lost_reason = { max: 255, required: true }
  if (!Object.keys(free).length) continue
  test(`${name}: every text comes back as it was, but for blanks around it and what nobody sees in a number, or is refused by its field`, async () => {
    const { send, read, shown = {}, silent } = await wayOf(name, free)
    for (const text of hostile_texts.filter(
      (_, at) => (all && name !== 'POST /workspaces') || at % 4 === index % 4,
    )) {
      const told = JSON.stringify(text.slice(0, 40))
      const wanted = Object.entries(free).map(
        ([field, limits]) =>
          [field, expected(numbers.has(field) ? withoutUnseen(text) : text, limits)] as const,
      )
      const bad = wanted.filter(([, value]) => value === undefined).map(([field]) => field)
      const reply = await send(Object.fromEntries(wanted.map(([field]) => [field, text])))
      if (bad.length) {
        assert.deepEqual(Object.keys(problems(reply)).sort(), bad.sort(), `${told}: ${reply.text}`)
        continue
      }
      assert.ok(reply.status < 300, `${told}: ${reply.text}`)
      for (const { body } of [...(silent ? [] : [reply]), ...(read ? [await read()] : [])])
        for (const [field, value] of wanted)
          assert.equal(body.data[shown[field] ?? field], value, `${field}: ${told}`)
      const made = String(reply.headers.get('location')).replace('/api/v1', '')
      if (limited.has(name)) await callerOf(made)('DELETE', made)
    }
  })
}

test('there are more than a hundred texts, and every operation with texts is tested or listed here', () => {
  assert.ok(new Set(hostile_texts).size > 150)
  for (const name of judged)
    assert.ok(
      writable.some((one) => one.name === name),
      name,
    )
  assert.ok(operations.length >= 20, `${operations.length}`)
})
