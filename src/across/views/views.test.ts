import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newWorkspace } from '../../../test/database.ts'
import { problems, refused } from '../../../test/envelope.ts'
import { callOf, turnableClock, useRapport } from '../../../test/harness.ts'
import { makeKey } from '../../../test/keys.ts'

const clock = turnableClock()
const rapport = useRapport({ clock })
const call = callOf(rapport)

const path = '/api/v1/views'
const view = { list: 'contacts', name: 'Partners', query: 'tag=partner&sort=last_name' }

async function made(body: object, by = call) {
  const reply = await by('POST', path, body)
  assert.equal(reply.status, 201, reply.text)
  return `${path}/${reply.body.data.id}`
}

test('a view has exactly its fields, and is found where Location says', async () => {
  const reply = await call('POST', path, { ...view, name: ' Partners ' })
  assert.equal(reply.status, 201, reply.text)
  const now = new Date(clock.now()).toISOString()
  const { id, created_by, ...rest } = reply.body.data
  assert.match(id, /^view_[0-9a-f]+$/)
  assert.deepEqual([created_by.kind, created_by.name], ['key', 'First key'])
  assert.deepEqual(rest, {
    ...view,
    visibility: 'shared',
    updated_by: created_by,
    created_at: now,
    updated_at: now,
  })
  assert.equal(reply.headers.get('location'), `${path}/${id}`)
  const read = await call('GET', `${path}/${id}`)
  assert.deepEqual(read.body, { success: true, data: reply.body.data })
  assert.equal(read.headers.get('etag'), reply.headers.get('etag'))
})

test('a query is kept to the letter, the empty one too', async () => {
  for (const query of ['', ' a=1 ', 'q=%C3%84rzte&x="<b>', 'q'.repeat(4096)]) {
    const at = await made({ ...view, query })
    assert.equal((await call('GET', at)).body.data.query, query)
  }
})

test('an invalid view is 422 with every failing field', async () => {
  const cases: [object, Record<string, string>][] = [
    [{}, { list: 'required', name: 'required', query: 'required' }],
    [
      { list: 'webhooks', name: ' ', query: null },
      { list: 'unknown_value', name: 'required', query: 'required' },
    ],
    [
      { list: 'deals', name: 'a'.repeat(256), query: 'q'.repeat(4097), columns: [] },
      { name: 'too_long', query: 'too_long', columns: 'unknown_field' },
    ],
    [{ ...view, query: 'a\0b' }, { query: 'invalid_characters' }],
  ]
  for (const [body, told] of cases) assert.deepEqual(problems(await call('POST', path, body)), told)
  const at = await made(view)
  for (const [body, told] of [
    [{ list: null }, { list: 'required' }],
    [{ name: '' }, { name: 'required' }],
    // Nothing is null here: an empty query is a text.
    [{ query: null }, { query: 'invalid_type' }],
  ] as const)
    assert.deepEqual(problems(await call('PUT', at, body)), told)
})

test('all views of a workspace come at once, newest first, or those of one list', async () => {
  const other = await newWorkspace(rapport)
  assert.deepEqual((await other('GET', path)).body, {
    success: true,
    data: [],
    meta: { current_page: 1, last_page: 1, per_page: 1, total: 0 },
  })
  const lists = ['contacts', 'companies', 'deals', 'activities', 'appointments', 'deliveries']
  for (let n = 0; n < 60; n++) await made({ ...view, name: `View ${n}`, list: lists[n % 6] }, other)
  const { body } = await other('GET', path)
  assert.deepEqual(
    body.data.map(({ name }: { name: string }) => name),
    Array.from({ length: 60 }, (_, n) => `View ${59 - n}`),
  )
  assert.deepEqual(body.meta, { current_page: 1, last_page: 1, per_page: 60, total: 60 })
  const deals = await other('GET', `${path}?list=deals`)
  assert.equal(deals.body.meta.total, 10)
  assert.ok(deals.body.data.every(({ list }: { list: string }) => list === 'deals'))
  const listed = async (query: string) => {
    const { data } = (await other('GET', `${path}?list=${query}`)).body
    return [...new Set(data.map(({ list }: { list: string }) => list))].sort()
  }
  assert.deepEqual(await listed('deals,contacts'), ['contacts', 'deals'])
  assert.deepEqual(await listed('!deals,!deliveries'), [
    'activities',
    'appointments',
    'companies',
    'contacts',
  ])
  assert.deepEqual(await listed('deals,!deals'), [])
  assert.ok(problems(await other('GET', `${path}?list=webhooks`)).list)
  refused(await other('GET', `${path}?page=1`), 400, 'bad_request')
})

test('a change changes what was sent, tells it in the audit log, and needs the ETag that If-Match names', async () => {
  const at = await made(view)
  const first = await call('GET', at)
  const etag = first.headers.get('etag') ?? ''
  clock.advance(1000)
  const same = await call('PUT', at, first.body.data, { 'if-match': etag })
  assert.deepEqual([same.status, same.body], [200, first.body])
  const changed = await call('PATCH', at, { query: 'stage=lead' }, { 'if-match': etag })
  assert.deepEqual(changed.body.data, {
    ...first.body.data,
    query: 'stage=lead',
    updated_at: new Date(clock.now()).toISOString(),
  })
  refused(await call('PUT', at, { name: 'Late' }, { 'if-match': etag }), 412, 'precondition_failed')
  refused(await call('DELETE', at, undefined, { 'if-match': etag }), 412, 'precondition_failed')
  const id = at.split('/').at(-1)
  const [entry] = (await call('GET', `/api/v1/audit-log?kind=views&record_id=${id}`)).body.data
  assert.deepEqual(
    [entry.action, entry.before, entry.after],
    ['updated', { query: view.query }, { query: 'stage=lead' }],
  )
})

test('a deleted view is gone for good', async () => {
  const at = await made(view)
  assert.equal((await call('DELETE', at)).status, 200)
  for (const method of ['GET', 'DELETE']) refused(await call(method, at), 404, 'not_found')
  refused(await call('PUT', at, { name: 'Back' }), 404, 'not_found')
})

test('views belong to the workspace: its keys share them, and to another one they do not exist', async () => {
  const at = await made(view)
  const mate = (await makeKey(rapport, { scopes: ['views:read', 'views:write'] })).call
  assert.equal((await mate('PUT', at, { name: 'Ours' })).status, 200)
  assert.equal((await call('GET', at)).body.data.name, 'Ours')
  const stranger = await newWorkspace(rapport)
  for (const [method, body] of [['GET'], ['PUT', { name: 'Theirs' }], ['DELETE']] as const)
    refused(await stranger(method, at, body), 404, 'not_found')
  assert.equal((await stranger('GET', path)).body.meta.total, 0)
  const reader = (await makeKey(rapport, { scopes: ['views:read'] })).call
  refused(await reader('POST', path, view), 403, 'forbidden')
})

test('a workspace keeps 200 views at most, also when many are saved at the same time', async () => {
  const full = await newWorkspace(rapport)
  for (let n = 0; n < 195; n++) await made(view, full)
  const replies = await Promise.all(Array.from({ length: 12 }, () => full('POST', path, view)))
  const statuses = replies.map(({ status }) => status).sort()
  assert.deepEqual(statuses, [...Array(5).fill(201), ...Array(7).fill(409)])
  const { data, meta } = (await full('GET', path)).body
  assert.equal(meta.total, 200)
  refused(await full('POST', path, view), 409, 'conflict')
  assert.equal((await full('DELETE', `${path}/${data[0].id}`)).status, 200)
  await made(view, full)
})
