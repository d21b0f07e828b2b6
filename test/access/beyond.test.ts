import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { role_scopes } from '../../src/app.ts'
import { createReadRights } from '../../src/http/scopes.ts'
import { resources } from '../../src/resources/index.ts'
import { dataOf, refused } from '../envelope.ts'
import { follow } from '../follower.ts'
import { client, type Rapport, useRapport } from '../harness.ts'
import { makeKey } from '../keys.ts'
import { join, useOwner } from '../people.ts'
import { startReceiver, useReceiver } from '../receiver.ts'
import { log, register, until } from '../webhooks.ts'

// A caller cannot grant, revoke or see anything outside of their own scopes.

const receiver = useReceiver()
const rapport = useRapport({ env: { WEBHOOK_RETRY_DELAYS: 'none' } })
const ada = useOwner(rapport)

const call: Rapport['call'] = (method, path, ...rest) => rapport.call(method, `/api/v1${path}`, ...rest)
async function keyOf(...scopes: string[]) {
  const key = await makeKey(rapport, { scopes })
  const own: Rapport['call'] = (method, path, ...rest) => key.call(method, `/api/v1${path}`, ...rest)
  return { ...key, call: own }
}
const made = async (path: string, body: object) => dataOf(await call('POST', path, body), 201)
const contact = () => made('/contacts', { first_name: 'Ada', last_name: 'Secret' })
const deal = () => made('/deals', { name: 'Signs' })
const meta = async (caller: Rapport['call'], path: string) => (await caller('GET', path)).body.meta

describe('keys', () => {
  test('keys:write alone does not take back a key with every scope, nor one with a scope that it lacks', async () => {
    const few = await keyOf('keys:write', 'keys:read')
    const all = await makeKey(rapport)
    const reader = await keyOf('contacts:read')
    for (const { id } of [all, reader]) {
      const { message } = refused(await few.call('POST', `/keys/${id}/revoke`), 403, 'forbidden')
      assert.match(message, id === all.id ? /every scope/ : /contacts:read/)
      assert.equal((await call('GET', `/keys/${id}`)).body.data.revoked_at, null)
    }
    const less = await keyOf('keys:read')
    assert.equal((await few.call('POST', `/keys/${less.id}/revoke`)).status, 200)
    assert.equal((await few.call('POST', `/keys/${few.id}/revoke`)).status, 200)
    const reply = await ada('POST', `/keys/${all.id}/revoke`)
    assert.equal(reply.status, 200, reply.text)
  })

  test('a list of all scopes does not take back a key with every scope, which has later ones, too', async () => {
    const known = (await ada('GET', '/session')).body.data.scopes as string[]
    const full = await keyOf(...known)
    const all = await makeKey(rapport)
    refused(await full.call('POST', `/keys/${all.id}/revoke`), 403, 'forbidden')
  })
})

describe('members and invitations', () => {
  const manager = () => keyOf('members:write', 'members:read', 'keys:write')
  const reader = () =>
    keyOf('members:write', 'members:read', 'keys:write', ...(role_scopes.of('read_only') ?? []))

  test('members:write alone neither removes nor demotes an administrator, a member or a reader', async () => {
    const few = await manager()
    for (const role of ['admin', 'member', 'read_only'] as const) {
      const { id } = await join(ada, rapport.url, role)
      refused(await few.call('DELETE', `/members/${id}`), 403, 'forbidden')
      const other = role === 'read_only' ? 'member' : 'read_only'
      refused(await few.call('PUT', `/members/${id}`, { role: other }), 403, 'forbidden')
      assert.equal((await call('GET', `/members/${id}`)).body.data.role, role)
    }
  })

  test('a key changes and removes the roles that its scopes cover, and no others', async () => {
    const some = await reader()
    const { id } = await join(ada, rapport.url, 'read_only')
    refused(await some.call('PUT', `/members/${id}`, { role: 'member' }), 403, 'forbidden')
    assert.equal((await some.call('DELETE', `/members/${id}`)).status, 200)
  })

  test('the removal of a member takes back no key with more scopes than the caller has', async () => {
    const some = await reader()
    const { id, call: person } = await join(ada, rapport.url, 'admin')
    const key = (await person('POST', '/keys', { name: 'Of an administrator' })).body.data
    assert.equal((await ada('PUT', `/members/${id}`, { role: 'read_only' })).status, 200)
    refused(await some.call('DELETE', `/members/${id}?revoke_keys=true`), 403, 'forbidden')
    const change = { role: 'read_only', revoke_keys: true }
    refused(await some.call('PUT', `/members/${id}`, change), 403, 'forbidden')
    assert.equal((await call('GET', `/keys/${key.id}`)).body.data.revoked_at, null)
    assert.equal((await call('GET', `/members/${id}`)).status, 200)
  })

  test('an invitation of a role beyond the own scopes is neither taken back nor replaced', async () => {
    const some = await reader()
    for (const role of ['owner', 'admin', 'member'] as const) {
      const email = `invited-${role}@example.com`
      const { id } = (await ada('POST', '/invitations', { email, role })).body.data
      refused(await some.call('DELETE', `/invitations/${id}`), 403, 'forbidden')
      refused(await some.call('POST', '/invitations', { email, role: 'read_only' }), 403, 'forbidden')
      assert.equal((await call('GET', `/invitations/${id}`)).status, 200)
    }
    const own = await some.call('POST', '/invitations', { email: 'mine@example.com', role: 'read_only' })
    assert.equal((await some.call('DELETE', `/invitations/${own.body.data.id}`)).status, 200)
  })
})

describe('webhooks', () => {
  test('webhooks:write alone subscribes to nothing; the answer names the scope that the event needs', async () => {
    const few = await keyOf('webhooks:write', 'webhooks:read', 'deals:read')
    const cases = {
      'contact.created': 'contacts:read',
      'company.updated': 'companies:read',
      'activity.completed': 'activities:read',
      'appointment.cancelled': 'appointments:read',
    }
    for (const [event, scope] of Object.entries(cases)) {
      const body = { url: receiver.url, events: ['deal.won', event] }
      const { message } = refused(await few.call('POST', '/webhooks', body), 403, 'forbidden')
      assert.ok(message.includes(scope) && !message.includes('deals:read'), message)
    }
    const { id } = await register(client(rapport.url, few.token), { url: receiver.url, events: ['deal.won'] })
    const more = await few.call('PUT', `/webhooks/${id}`, { events: ['deal.won', 'contact.created'] })
    assert.match(refused(more, 403, 'forbidden').message, /contacts:read/)
    assert.deepEqual((await call('GET', `/webhooks/${id}`)).body.data.events, ['deal.won'])
  })

  test('a webhook with events beyond the own scopes is neither redirected, narrowed, rotated, stopped nor tested', async () => {
    const few = await keyOf('webhooks:write', 'webhooks:read', 'deals:read')
    const { id } = await made('/webhooks', { url: receiver.url, events: ['contact.created', 'deal.won'] })
    const before = (await call('GET', `/webhooks/${id}`)).text
    const attempts: [string, string, object?][] = [
      ['PUT', '', { url: `${receiver.url}/mine` }],
      ['PATCH', '', { url: `${receiver.url}/mine`, events: ['deal.won'] }],
      ['PUT', '', { events: ['deal.won'] }],
      ['PUT', '', { name: 'Mine' }],
      ['POST', '/rotate-secret', { secret: 'a secret that I know' }],
      ['POST', '/pause', {}],
      ['POST', '/resume', {}],
      ['POST', '/test', {}],
      ['POST', '/resend-failed', {}],
      ['DELETE', ''],
    ]
    for (const [method, path, body] of attempts) {
      const reply = await few.call(method, `/webhooks/${id}${path}`, body)
      assert.match(refused(reply, 403, 'forbidden').message, /contacts:read/, `${method} ${path}`)
    }
    assert.equal((await call('GET', `/webhooks/${id}`)).text, before)
    assert.equal((await call('DELETE', `/webhooks/${id}`)).status, 200)
  })

  test('what is pending from earlier events of a webhook is not led to another address', async () => {
    const few = await keyOf('webhooks:write', 'deals:read')
    const { id } = await made('/webhooks', { url: receiver.url, events: ['contact.created'] })
    await call('POST', `/webhooks/${id}/pause`, {})
    await contact()
    await call('PUT', `/webhooks/${id}`, { events: ['deal.won'] })
    const moved = { url: `${receiver.url}/mine` }
    refused(await few.call('PUT', `/webhooks/${id}`, moved), 403, 'forbidden')
    await call('POST', `/webhooks/${id}/resume`, {})
    await until(
      () => log(rapport.call, `webhook_id=${id}&status=pending`),
      (all) => all.length === 0,
    )
    assert.equal((await few.call('PUT', `/webhooks/${id}`, moved)).status, 200)
  })

  test('the delivery log shows webhooks:read alone no event, only kinds that the key may read; totals are of these', async () => {
    const names = ['contact.created', 'deal.created']
    const { id } = await made('/webhooks', { url: receiver.url, events: names })
    await contact()
    await deal()
    await call('POST', `/webhooks/${id}/test`, {})
    const all = await until(
      () => log(rapport.call, `webhook_id=${id}&status=succeeded`),
      (found) => found.length === 3,
    )
    const secret = all.find(({ event }) => event === 'contact.created')
    const few = await keyOf('webhooks:read', 'webhooks:write', 'deals:read')
    const none = await keyOf('webhooks:read')
    const events = async (caller: Rapport['call'], query: string) => {
      const { data, meta } = (await caller('GET', `/deliveries?${query}`)).body
      const found = data.map(({ event }: { event: string }) => event).sort()
      return [...new Set(found), ...('total' in meta ? [meta.total === found.length] : [])]
    }
    for (const query of [
      `webhook_id=${id}`,
      `webhook_id=${id}&cursor=start`,
      `webhook_id=${id}&status=succeeded`,
      'from=2020-01-01T00:00:00Z&per_page=100',
      'per_page=100',
      'cursor=start&per_page=100',
    ]) {
      const exact = query.includes('cursor') ? [] : [true]
      assert.deepEqual(await events(few.call, query), ['deal.created', 'ping', ...exact], query)
      assert.deepEqual(await events(none.call, query), ['ping', ...exact], query)
    }
    assert.deepEqual(await events(few.call, 'event=contact.created'), [true])
    assert.deepEqual(await events(few.call, 'event=contact.created&cursor=start'), [])
    assert.deepEqual(await events(few.call, 'event=deal.created'), ['deal.created', true])
    assert.equal((await meta(few.call, '/deliveries?event=contact.created')).total, 0)
    for (const path of [`/deliveries/${secret?.id}`, `/deliveries/${secret?.id}/resend`]) {
      const reply = await few.call(path.endsWith('resend') ? 'POST' : 'GET', path)
      assert.ok(!reply.text.includes('Secret'))
      refused(reply, 404, 'not_found')
    }
  })

  test('resend-failed sends only what the caller may read', async () => {
    const few = await keyOf('webhooks:write', 'deals:read')
    const failing = await startReceiver({ answer: { status: 500 } })
    const { id } = await made('/webhooks', { url: failing.url, events: ['contact.created', 'deal.created'] })
    await contact()
    await deal()
    await until(
      () => log(rapport.call, `webhook_id=${id}&status=failed`),
      (all) => all.length === 2,
    )
    await call('PUT', `/webhooks/${id}`, { events: ['deal.created'] })
    const reply = await few.call('POST', `/webhooks/${id}/resend-failed`, {})
    assert.deepEqual([reply.status, reply.body.data], [200, { count: 1 }])
    assert.equal((await call('POST', `/webhooks/${id}/pause`, {})).status, 200)
    await failing.close()
  })
})

describe('what shows all kinds together', () => {
  test('events:read alone reads no contact: the feed shows only kinds that the key may read', async () => {
    await contact()
    await deal()
    const none = await keyOf('events:read')
    const some = await keyOf('events:read', 'deals:read')
    const names = async (caller: Rapport['call'], query: string) => {
      const { body, text } = await caller('GET', `/events?per_page=100${query}`)
      const found = body.data.map(({ event }: { event: string }) => event.split('.')[0])
      return { kinds: [...new Set(found)].sort(), text, ...body.meta }
    }
    for (const query of ['', '&sort=-timestamp', '&event=contact.created']) {
      const { kinds, has_more, text } = await names(none.call, query)
      assert.deepEqual([kinds, has_more], [[], false], query)
      assert.ok(!text.includes('Secret'))
    }
    assert.deepEqual((await names(some.call, '')).kinds, ['deal'])
    assert.deepEqual((await names(some.call, '&sort=-timestamp')).kinds, ['deal'])
    assert.deepEqual((await names(some.call, '&event=deal.created')).kinds, ['deal'])
    assert.deepEqual((await names(some.call, '&event=contact.created')).kinds, [])
    // From where the last page ended, what comes later is found.
    const { next_cursor } = await names(some.call, '')
    await contact()
    const { id } = await deal()
    const reply = await some.call('GET', `/events?cursor=${next_cursor}`)
    assert.deepEqual(
      reply.body.data.map(({ event, data }: { event: string; data: { id: number } }) => [event, data.id]),
      [['deal.created', id]],
    )
  })

  test('the stream shows only kinds that the key may read, also with changes and from the beginning', async (t) => {
    const some = await keyOf('events:read', 'deals:read')
    const streams = await Promise.all(
      ['?cursor=0', '?changes=true', '', '?event=contact.created'].map((query) =>
        follow(rapport.url, some.token, { query }),
      ),
    )
    for (const stream of streams) t.after(stream.close)
    const full = await follow(rapport.url, rapport.key)
    t.after(full.close)
    await contact()
    await deal()
    await made('/deals', { name: 'The last of these' })
    for (const stream of streams.slice(0, 3))
      await until(
        async () => stream.events(),
        (all) => all.some(({ data }) => data?.includes('The last of these')),
      )
    await full.waitFor(3)
    for (const stream of streams)
      for (const { event = '', data = '' } of stream.events()) {
        assert.ok(event === 'changed' || event.startsWith('deal.'), event)
        assert.ok(!data.includes('Secret') && !data.includes('contacts'), data)
      }
    assert.deepEqual(streams[3]?.events(), [])
  })

  test('the audit log shows only kinds that the key may read, and counts no others', async () => {
    const { id } = await contact()
    await deal()
    const read = async (scopes: string[], query = '') => {
      const { call: own } = await keyOf('audit_log:read', ...scopes)
      const { data, meta } = (await own('GET', `/audit-log?per_page=100${query}`)).body
      const kinds = [...new Set(data.map(({ kind }: { kind: string }) => kind))].sort()
      return { kinds, total: meta.total, shown: data.length }
    }
    assert.deepEqual(await read([]), { kinds: [], total: 0, shown: 0 })
    const deals = await read(['deals:read'])
    assert.deepEqual([deals.kinds, deals.total], [['deals'], deals.shown])
    const both = await read(['deals:read', 'keys:read'], '&page=1')
    assert.deepEqual(both.kinds, ['api_keys', 'deals'])
    const actions = await read(['deals:read', 'keys:read'], '&action=created')
    assert.deepEqual(actions.kinds, ['api_keys', 'deals'])
    const secret = `&kind=contacts&record_id=${id}`
    assert.deepEqual(await read(['deals:read'], secret), { kinds: [], total: 0, shown: 0 })
    assert.deepEqual((await read(['contacts:read'], secret)).kinds, ['contacts'])
    assert.deepEqual((await read(['deals:read'], '&kind=contacts&cursor=start')).kinds, [])
  })

  test('page by page and by cursor, a caller with some kinds finds each of their entries once, in order', async () => {
    const { call: own } = await keyOf('audit_log:read', 'deals:read', 'contacts:read', 'keys:read')
    const all = (await call('GET', '/audit-log?per_page=100')).body.data as { id: number; kind: string }[]
    const may = createReadRights(resources).readableKinds(['deals:read', 'contacts:read', 'keys:read']) ?? []
    const expected = all.filter(({ kind }) => may.includes(kind)).map(({ id }) => id)
    const found: number[] = []
    for (let cursor: string | null = 'start'; cursor !== null; ) {
      const reply = await own('GET', `/audit-log?per_page=7&cursor=${cursor}`)
      found.push(...reply.body.data.map(({ id }: { id: number }) => id))
      cursor = reply.body.meta.next_cursor
    }
    assert.deepEqual(found.slice(0, expected.length), expected)
    const second = (await own('GET', '/audit-log?per_page=7&page=2')).body
    assert.deepEqual(
      second.data.map(({ id }: { id: number }) => id),
      found.slice(7, 14),
    )
    assert.equal(second.meta.total, found.length)
  })

  test('the trash shows only kinds that the key may read, and erases only kinds that it may write', async () => {
    const { id } = await contact()
    await call('DELETE', `/contacts/${id}`)
    const gone = await deal()
    await call('DELETE', `/deals/${gone.id}`)
    const some = await keyOf('trash:read', 'trash:write', 'deals:read', 'deals:write')
    const kinds = async (query: string) => {
      const { data, meta } = (await some.call('GET', `/trash?per_page=100${query}`)).body
      return [...new Set(data.map(({ kind }: { kind: string }) => kind)), meta.total ?? null]
    }
    assert.deepEqual(await kinds(''), ['deals', 1])
    assert.deepEqual(await kinds('&cursor=start'), ['deals', null])
    assert.deepEqual(await kinds('&kind=contacts'), [0])
    const none = await keyOf('trash:read')
    assert.equal((await none.call('GET', '/trash')).body.meta.total, 0)
    const reply = await some.call('DELETE', `/trash/contacts/${id}`)
    assert.match(refused(reply, 403, 'forbidden').message, /contacts:write/)
    assert.equal((await call('POST', `/contacts/${id}/restore`)).status, 200)
    assert.equal((await some.call('DELETE', `/trash/deals/${gone.id}`)).status, 200)
  })
})
