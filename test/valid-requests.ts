// biome-ignore-all lint/suspicious/noExplicitAny: a test says itself what it expects in an answer
import assert from 'node:assert/strict'
import { makeResetToken } from '../src/access/people/resets.ts'
import { systemClock } from '../src/clock.ts'
import { transaction } from '../src/db/db.ts'
import { command_line } from '../src/events/context.ts'
import { makeRequest } from './booking.ts'
import { client, type Rapport, type Reply } from './harness.ts'
import { ended } from './imports.ts'
import { beside } from './keys.ts'
import { mailSettings, queueMailsOf } from './mails.ts'
import { bodyFor, isReference, type Operation, readOperations, valueFor } from './operations.ts'
import { type Browser, browser, invite, join, password, setupToken } from './people.ts'
import { until } from './webhooks.ts'

/** A request that the service must answer with success, once. */
export type ValidRequest = {
  method: string
  path: string
  body?: Record<string, unknown> | string
  /** Whose it is: the key's or the session's header, none for an open operation. */
  headers: Record<string, string>
}

/** A person with every right in a workspace, for operations that no key may call. */
type Person = { call: Browser; email: string; session_id: string; workspace_id: number }

/** Whose records a request names; by default those of the workspace that sends it. */
type Owners = { path?: Requests; references?: Requests }

export type Requests = Awaited<ReturnType<typeof startRequests>>

const base = '/api/v1'
const csv_file = 'first_name,last_name\nGrace,Hopper\n'
let made = 0
const owners = new WeakMap<Rapport, Browser>()

/** The owner of the installation, made when first asked for: by the request of `post /setup` itself, which succeeds once. */
async function ownerOf(rapport: Rapport, operations: Operation[]): Promise<Browser> {
  const known = owners.get(rapport)
  if (known) return known
  const setup = operations.find(({ name }) => name === 'post /setup')
  const values: Record<string, unknown> = { token: setupToken(rapport), email: 'ada@example.com', password }
  const call = browser(rapport.url)
  answered(
    await call(
      'POST',
      '/setup',
      bodyFor(setup?.body, (name) => values[name]),
    ),
  )
  owners.set(rapport, call)
  return call
}

/** The settings of a service that can take them all. No mail arrives. */
export const request_env = mailSettings('smtp://127.0.0.1:9')

/**
 * Builds valid requests for every operation of the OpenAPI document, in the first workspace of a service, or in a new
 * one with its own people. Each request has its own records, created through the API. Throws for an operation without a
 * valid request: add its values here, or examples to the document.
 */
export async function startRequests(rapport: Rapport, { workspace = 'first' as 'first' | 'new' } = {}) {
  const operations = await readOperations(rapport)
  const named = new Map(operations.map((operation) => [operation.name, operation]))
  const keeper =
    workspace === 'first' ? await ownerOf(rapport, operations) : await newKeeper(rapport, operations)
  const key: string =
    workspace === 'first'
      ? rapport.key
      : answered(await keeper('POST', '/keys', { name: 'All scopes' }), 201).token
  const call = client(rapport.url, key)
  const workspace_id: number = answered(await keeper('GET', '/session')).workspace.id
  /** One record of each kind, for references: made when it is first named. */
  const shared = new Map<string, Promise<unknown>>()

  /** Makes a record by POST to a path below /api/v1; returns its detail view. */
  async function make(path: string, fields: Record<string, unknown> = {}): Promise<any> {
    const operation = operations.find(
      ({ method, path: at, described }) =>
        method === 'POST' && '201' in described.responses && patternOf(at).test(base + path),
    )
    if (!operation) throw new Error(`Nothing can be made by POST ${path}: teach valid-requests.ts how.`)
    const body = await buildBody(operation, {}, null)
    return answered(await call('POST', base + path, { ...body, ...fields }), 201)
  }

  const person = async (): Promise<Person> => {
    const { call, email, session_id } = await join(keeper, rapport.url, 'owner')
    return { call, email, session_id, workspace_id }
  }

  async function ping(): Promise<string> {
    const { id } = await make('/webhooks')
    return answered(await call('POST', `${base}/webhooks/${id}/test`)).id
  }

  const startImport = async (file: string) => {
    const path = `${base}/imports?resource=contacts`
    return answered(await call('POST', path, file, { 'content-type': 'text/csv' }), 202)
  }
  async function endedImport(file: string) {
    const { id } = await startImport(file)
    return ended({ call }, id)
  }

  /** The ids of records that no POST creates, by the path of their list or of an operation. */
  const found: Record<string, (who: Person | null) => Promise<string>> = {
    '/appointments/{id}/decline': async () => String(await makeRequest({ call, url: rapport.url })),
    '/imports': async () => (await endedImport(csv_file)).id,
    // A cancelled import can be cancelled again.
    '/imports/{import_id}/cancel': async () => {
      const { id } = await startImport(csv_file + 'Cancel,Me\n'.repeat(5000))
      answered(await call('POST', `${base}/imports/${id}/cancel`))
      return id
    },
    // A group that exists, and whose record was changed later.
    '/audit-log/groups': async () => {
      const { id } = await make('/companies')
      const change_group = `grp_${String(++made).padStart(32, '0')}`
      await beside(rapport.data_dir, (db) =>
        transaction(db, (tx) =>
          tx
            .updateTable('audit_log')
            .set({ change_group })
            .where('kind', '=', 'companies')
            .where('record_id', '=', String(id))
            .execute(),
        ),
      )
      return change_group
    },
    '/audit-log': async () => {
      await make('/companies')
      return answered(await call('GET', `${base}/audit-log?per_page=1`))[0].id
    },
    // Of the caller, who sees no others. Its first poll has failed, and the next one comes after the tests.
    '/busy-calendars': async (who) => {
      const by = who ?? (await person())
      const { id } = answered(
        await by.call('POST', '/busy-calendars', { url: 'http://127.0.0.1:9/a.ics' }),
        201,
      )
      const shown = () => by.call('GET', `/busy-calendars/${id}`)
      await until(shown, ({ body }) => body.data.status === 'failing')
      return id
    },
    // A mail that has failed, and so can be sent again.
    '/mails': async () => {
      const clock = { ...systemClock, elapsed: () => 0 }
      const [id = ''] = await queueMailsOf(rapport, workspace_id, clock, [{}])
      const finished_at = new Date().toISOString()
      const failed = { status: 'failed', run_at_ms: null, claim_id: null, finished_at } as const
      await beside(rapport.data_dir, (db) =>
        transaction(db, (tx) => tx.updateTable('mails').set(failed).where('id', '=', id).execute()),
      )
      return id
    },
    '/deliveries': ping,
    '/events': async () => {
      await make('/companies')
      return answered(await call('GET', `${base}/events?sort=-timestamp&per_page=1`))[0].id
    },
    '/users': async () => (await join(keeper, rapport.url, 'read_only')).id,
    '/members': async () => (await join(keeper, rapport.url, 'read_only')).id,
    // References to owners are references to members.
    '/owners': async () => (await join(keeper, rapport.url, 'read_only')).id,
    '/merges': async () => {
      const [survivor, other] = [await make('/contacts'), await make('/contacts')]
      const reply = await call('POST', `${base}/contacts/${survivor.id}/merge`, { from_ids: [other.id] })
      answered(reply)
      return String(reply.body.meta.merge_id)
    },
    // Of the caller, who sees no others.
    '/sessions': async (who) => who?.session_id ?? (await person()).session_id,
    '/calendar-feeds': async (who) => {
      const { call } = who ?? (await person())
      return answered(await call('POST', '/calendar-feeds', { name: 'Phone' }), 201).id
    },
    '/trash': async () => 'companies',
    '/view-tabs': async () => 'companies',
    '/trash/companies': async () => {
      const { id } = await make('/companies')
      answered(await call('DELETE', `${base}/companies/${id}`))
      return String(id)
    },
  }

  /** The operation's path with new records in it. */
  async function fillPath({ path }: Operation, who: Person | null): Promise<string> {
    let filled = ''
    for (const segment of path.slice(base.length).split('/').slice(1))
      filled += `/${segment.startsWith('{') ? await idBelow(filled, who, path) : segment}`
    return base + filled
  }
  const idBelow = async (collection: string, who: Person | null, path = '') =>
    String((await (found[path.replace(base, '')] ?? found[collection])?.(who)) ?? (await make(collection)).id)

  /** Values that a schema cannot describe, by the field's name or by operation and field. */
  const known: Record<string, (who: Person | null) => unknown> = {
    slug: () => `page-${++made}`,
    hosts: () => [],
    questions: () => [{ key: 'seats', type: 'number' }],
    embed_origins: () => ['https://www.example.com'],
    'post /custom-fields key': () => `key ${++made}`,

    secret: () => 'a secret of a webhook',
    url: () => 'http://127.0.0.1:9/hook',
    // No attempt comes while a test compares what is shown.
    retry_delays: () => [3600],
    role: () => 'member',
    start_at: () => new Date(Date.parse('2030-01-08T12:00:00Z') + ++made * 3_600_000).toISOString(),
    end_at: () => new Date(Date.parse('2030-01-08T12:30:00Z') + made * 3_600_000).toISOString(),
    password: () => password,
    current_password: () => password,
    new_password: () => password,
    workspace_id: () => workspace_id,
    email: (who) => who?.email ?? `guest${++made}@example.com`,
    'post /mails/test recipient': async () => (await person()).email,
    'post /session email': async () => (await person()).email,
    'post /setup token': () => setupToken(rapport),
    'post /password-reset token': async () => {
      const { email } = await person()
      return beside(rapport.data_dir, (db) => makeResetToken(db, systemClock, command_line, email))
    },
    'post /invitations/look-up token': () => invite(keeper, 'member', `guest${++made}@example.com`),
    'post /invitations/accept token': () => invite(keeper, 'member', `guest${++made}@example.com`),
  }
  // A reason is for lost deals alone. Notifications are read by ids, or all of them.
  const never_sent = ['lost_reason', 'all', 'before']

  async function buildBody(operation: Operation, { references }: Owners, who: Person | null) {
    const values: Record<string, unknown> = {}
    for (const [name, { readOnly }] of Object.entries<any>(operation.body?.properties ?? {})) {
      if (readOnly) continue
      const [, merged] = /^post (\/[a-z-]+)\/\{id\}\/merge$/.exec(operation.name) ?? []
      const [, alike] = /^post (\/[a-z-]+)\/duplicates\/\w+$/.exec(operation.name) ?? []
      const other =
        (merged && name === 'from_ids' && (async () => [(await make(merged)).id])) ||
        (alike && name === 'ids' && (async () => [(await make(alike)).id, (await make(alike)).id]))
      const value = other || (known[`${operation.name} ${name}`] ?? known[name])
      if (name === 'guest_ids') values[name] = [await (references ?? built).reference('contact_id')]
      else if (isReference(name) && (references || !value))
        values[name] = await (references ?? built).reference(name)
      else values[name] = await value?.(who)
    }
    const body = bodyFor(operation.body ?? {}, (name) => values[name])
    return Object.fromEntries(Object.entries(body).filter(([name]) => !never_sent.includes(name)))
  }

  const built = {
    rapport,
    operations,
    key,
    call,
    make,
    workspace_id,

    /** The operation of a name, such as `get /contacts/{id}`. */
    operation(name: string): Operation {
      const operation = named.get(name)
      assert.ok(operation, `The document has no operation ${name}.`)
      return operation
    },

    /** The id of this workspace's record that a field such as contact_id can name; the same each time. */
    reference(name: string): Promise<unknown> {
      if (name === 'workspace_id') return Promise.resolve(workspace_id)
      const collection = `/${plural(name.replace(/_id$/, '').replaceAll('_', '-'))}`
      const one = shared.get(collection) ?? idBelow(collection, null)
      shared.set(collection, one)
      return one.then((id) => (/^\d+$/.test(String(id)) ? Number(id) : id))
    },

    /** A request of the operation that succeeds, with new records; `of` takes those of another workspace. */
    async request(operation: Operation, of: Owners = {}): Promise<ValidRequest> {
      const who = operation.caller === 'person' ? await person() : null
      const path = await (of.path ?? built).fillPath(operation, of.path ? null : who)
      const required: [string, string][] = []
      for (const { name, schema } of operation.query.filter((one) => one.required)) {
        const value = isReference(name) ? (of.references ?? built).reference(name) : valueFor(name, schema)
        required.push([name, String(await value)])
      }
      const query = required.length ? `?${new URLSearchParams(required)}` : ''
      const headers: Record<string, string> =
        operation.caller === 'anyone'
          ? {}
          : who
            ? { cookie: who.call.cookie() }
            : { authorization: `Bearer ${key}` }
      if (operation.takes_file) {
        const file = { body: csv_file, headers: { ...headers, 'content-type': 'text/csv' } }
        return { method: operation.method, path: path + query, ...file }
      }
      const body = operation.body && { body: await buildBody(operation, of, who) }
      return { method: operation.method, path: path + query, headers, ...body }
    },
    fillPath,

    /** Resolves when nothing that was begun here goes on: each delivery was attempted, each import has ended. */
    async atRest(): Promise<void> {
      const left = async () => {
        const deliveries = answered(await call('GET', `${base}/deliveries?status=pending&per_page=100`))
        const imports = answered(await call('GET', `${base}/imports?per_page=100`))
        return [
          ...deliveries.filter((one: any) => !one.attempt_count),
          ...imports.filter((one: any) => !one.finished_at),
        ]
      }
      await until(left, ({ length }) => length === 0)
    },

    /** Sends a request; of a stream only the head is read. */
    async send({ method, path, body, headers }: ValidRequest): Promise<Reply> {
      if (!path.includes('/stream')) return client(rapport.url, null)(method, path, body, headers)
      const response = await fetch(rapport.url + path, { method, headers, redirect: 'manual' })
      const streaming = response.headers.get('content-type') === 'text/event-stream'
      if (streaming) await response.body?.cancel()
      const text = streaming ? '' : await response.text()
      return { status: response.status, headers: response.headers, text, body: text && JSON.parse(text) }
    },
  }
  return built
}

// A person with every right in a new workspace, and in no other one.
async function newKeeper(rapport: Rapport, operations: Operation[]): Promise<Browser> {
  const owner = await ownerOf(rapport, operations)
  const founder = (await join(owner, rapport.url, 'owner')).call
  answered(await founder('POST', '/workspaces', { name: 'Another' }), 201)
  return (await join(founder, rapport.url, 'owner')).call
}

function answered(reply: Reply, status = 200) {
  assert.equal(reply.status, status, reply.text)
  return reply.body.data
}

const plural = (noun: string) => (noun.endsWith('y') ? `${noun.slice(0, -1)}ies` : `${noun}s`)
const patternOf = (path: string) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)
