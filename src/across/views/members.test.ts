import assert from 'node:assert/strict'
import { test } from 'node:test'
import { problems, refused } from '../../../test/envelope.ts'
import { type Reply, useRapport } from '../../../test/harness.ts'
import { archiveOf, ended, upload } from '../../../test/imports.ts'
import { beside } from '../../../test/keys.ts'
import { type Browser, join, password, setUp } from '../../../test/people.ts'
import { before } from '../../../test/use.ts'
import { resources } from '../../resources/index.ts'
import { listsOf } from './schema.ts'

const rapport = useRapport()
let ada: Browser
let key: Browser
before(async () => {
  ada = await setUp(rapport)
  key = ((method: string, path: string, ...rest: [unknown?, Record<string, string>?]) =>
    rapport.call(method, `/api/v1${path}`, ...rest)) as Browser
})

const view = { list: 'contacts', name: 'Partners', query: 'tag=partner' }
const only_me = { ...view, visibility: 'private' }

async function ok(reply: Promise<Reply>) {
  const { status, body, text } = await reply
  assert.ok(status < 300, text)
  return body.data
}
const save = (by: Browser, body: object = view) => ok(by('POST', '/views', body))
const member = async () => join(ada, rapport.url, 'member')
const names = async (by: Browser) =>
  (await ok(by('GET', '/views?list=contacts'))).map(({ name }: { name: string }) => name)

test('a private view exists for the person who made it alone, also not for an owner or a key', async () => {
  const [grace, mate] = [await member(), await member()]
  const { id, ...made } = await save(grace.call, { ...only_me, name: 'Mine alone' })
  assert.equal(made.visibility, 'private')
  assert.deepEqual(made.created_by, { kind: 'person', id: grace.id, name: 'Grace Hopper' })
  assert.ok((await names(grace.call)).includes('Mine alone'))
  for (const other of [ada, mate.call, key]) {
    assert.ok(!(await names(other)).includes('Mine alone'))
    for (const [method, body] of [['GET'], ['PUT', { name: 'Theirs' }], ['DELETE']] as const)
      refused(await other(method, `/views/${id}`, body), 404, 'not_found')
  }
  assert.equal((await ok(grace.call('PUT', `/views/${id}`, { name: 'Renamed' }))).name, 'Renamed')
  assert.equal((await grace.call('DELETE', `/views/${id}`)).status, 200)
})

test('a key and the default make shared views, and a key gets no private one', async () => {
  assert.equal((await save(key)).visibility, 'shared')
  assert.equal((await save(ada)).visibility, 'shared')
  assert.deepEqual(problems(await key('POST', '/views', only_me)), { visibility: 'not_allowed' })
  const wrong = { ...view, visibility: 'public' }
  assert.deepEqual(problems(await ada('POST', '/views', wrong)), { visibility: 'unknown_value' })
})

test('a shared view is changed and deleted by its maker, administrators and keys, and by no other member', async () => {
  const [grace, mate] = [await member(), await member()]
  const admin = await join(ada, rapport.url, 'admin')
  const { id } = await save(grace.call)
  for (const [method, body] of [['PUT', { name: 'Theirs' }], ['DELETE']] as const)
    refused(await mate.call(method, `/views/${id}`, body), 403, 'forbidden')
  assert.equal((await ok(mate.call('GET', `/views/${id}`))).name, 'Partners')
  for (const by of [grace.call, admin.call, key]) {
    const { name, updated_by } = await ok(by('PUT', `/views/${id}`, { name: `By ${by === key}` }))
    assert.equal(name, `By ${by === key}`)
    assert.equal(updated_by.kind, by === key ? 'key' : 'person')
  }
  assert.equal((await admin.call('DELETE', `/views/${id}`)).status, 200)
})

test('a view that no person made belongs to everybody who may write views', async () => {
  const { id } = await save(key)
  const grace = await member()
  assert.equal((await ok(grace.call('PUT', `/views/${id}`, { name: 'Ours' }))).name, 'Ours')
  refused(await grace.call('PUT', `/views/${id}`, { visibility: 'private' }), 403, 'forbidden')
  const reader = await join(ada, rapport.url, 'read_only')
  refused(await reader.call('PUT', `/views/${id}`, { name: 'Read' }), 403, 'forbidden')
  assert.equal((await grace.call('DELETE', `/views/${id}`)).status, 200)
})

test('the maker alone makes a view private, and the others then lose it', async () => {
  const grace = await member()
  const { id } = await save(grace.call)
  const path = `/views/${id}`
  for (const by of [ada, key]) refused(await by('PUT', path, { visibility: 'private' }), 403, 'forbidden')
  const shared = (await ada('GET', path)).headers.get('etag') ?? ''
  await ok(grace.call('PUT', path, { visibility: 'private' }, { 'if-match': shared }))
  refused(await ada('GET', path), 404, 'not_found')
  refused(
    await grace.call('PUT', path, { visibility: 'shared' }, { 'if-match': shared }),
    412,
    'precondition_failed',
  )
  await ok(grace.call('PUT', path, { visibility: 'shared' }))
  assert.equal((await ok(ada('GET', path))).visibility, 'shared')
})

test('the audit log has no text of a private view', async () => {
  const grace = await member()
  const { id } = await save(grace.call, { ...only_me, name: 'Secret' })
  const path = `/views/${id}`
  await ok(grace.call('PUT', path, { name: 'Still secret', query: 'stage=lead' }))
  await ok(grace.call('PUT', path, { name: 'Known', visibility: 'shared' }))
  await ok(grace.call('PUT', path, { name: 'Hidden', visibility: 'private' }))
  await ok(grace.call('DELETE', path))
  const entries = await ok(ada('GET', `/audit-log?kind=views&record_id=${id}`))
  const hidden = { list: 'contacts', visibility: 'private' }
  const known = { name: 'Known', query: 'stage=lead', visibility: 'shared' }
  assert.deepEqual(
    entries.map(({ action, before, after }: Record<string, unknown>) => [action, before, after]).reverse(),
    [
      ['created', null, hidden],
      ['updated', null, null],
      ['updated', { visibility: 'private' }, known],
      ['updated', known, { visibility: 'private' }],
      ['deleted', hidden, null],
    ],
  )
})

test('a member keeps 200 private views, beside the 200 shared ones, also when a view changes sides', async () => {
  const grace = await member()
  const save200 = (n: number) => save(grace.call, { ...only_me, list: 'deals', name: `${n}` })
  for (let n = 0; n < 200; n++) await save200(n)
  const full = await grace.call('POST', '/views', only_me)
  refused(full, 409, 'conflict')
  assert.deepEqual([full.body.error.reason, full.body.error.facts], ['too_many_views', { most: 200 }])
  const { id } = await save(grace.call)
  refused(await grace.call('PUT', `/views/${id}`, { visibility: 'private' }), 409, 'conflict')
  await save(await member().then(({ call }) => call), only_me)
})

test('a member orders the tabs of a list and chooses its default for nobody else', async () => {
  const [grace, mate] = [await member(), await member()]
  const ids = [(await save(grace.call)).id, (await save(grace.call, only_me)).id]
  const path = '/view-tabs/contacts'
  const none = { list: 'contacts', tabs: [], default_tab: null }
  const first = await grace.call('GET', path)
  assert.deepEqual(first.body.data, none)
  const etag = first.headers.get('etag') ?? ''
  const tabs = [ids[1], 'view_gone', ids[0], ids[1]]
  const ordered = await grace.call('PUT', path, { tabs }, { 'if-match': etag })
  assert.deepEqual(ordered.body.data, { ...none, tabs: [ids[1], 'view_gone', ids[0]] })
  refused(await grace.call('PUT', path, { tabs: [] }, { 'if-match': etag }), 412, 'precondition_failed')
  const chosen = await ok(grace.call('PATCH', path, { default_tab: ids[0] }))
  assert.deepEqual(chosen, { ...ordered.body.data, default_tab: ids[0] })
  const all = await ok(grace.call('GET', '/view-tabs'))
  assert.deepEqual(
    all.map(({ list }: { list: string }) => list),
    listsOf(resources),
  )
  assert.deepEqual(all[0], chosen)
  assert.deepEqual(await ok(mate.call('GET', path)), none)
  // Both changes stay, in any order.
  await Promise.all([
    ok(grace.call('PATCH', path, { default_tab: 'mine' })),
    ok(grace.call('PATCH', path, { tabs: ids })),
  ])
  assert.deepEqual(await ok(grace.call('GET', path)), { list: 'contacts', tabs: ids, default_tab: 'mine' })
})

test('a reader orders their own tabs, a key has none, and wrong tabs are 422 by field', async () => {
  const reader = await join(ada, rapport.url, 'read_only')
  await ok(reader.call('PUT', '/view-tabs/deals', { default_tab: 'mine' }))
  refused(await key('GET', '/view-tabs'), 403, 'forbidden')
  refused(await reader.call('PUT', '/view-tabs/webhooks', { tabs: [] }), 404, 'not_found')
  const wrong = { tabs: ['x'.repeat(65)], default_tab: 7, order: 1 }
  assert.deepEqual(problems(await reader.call('PUT', '/view-tabs/deals', wrong)), {
    'tabs.0': 'too_long',
    default_tab: 'invalid_type',
    order: 'unknown_field',
  })
  const many = Array.from({ length: 401 }, (_, n) => `view_${n}`)
  assert.deepEqual(problems(await reader.call('PUT', '/view-tabs/deals', { tabs: many })), {
    tabs: 'too_many',
  })
})

test('the path decides which tabs change, whatever list the body names', async () => {
  const person = await join(ada, rapport.url, 'member')
  for (const list of ['contacts', 'webhooks', '', 7, null, {}, ['deals'], { '': '' }]) {
    const tabs = [`view_${JSON.stringify(list)}`]
    const changed = await ok(person.call('PUT', '/view-tabs/deals', { list, tabs }))
    assert.deepEqual(changed, { list: 'deals', tabs, default_tab: null })
  }
  const all = (await person.call('GET', '/view-tabs')).body.data as { list: string; tabs: string[] }[]
  assert.deepEqual(
    all.filter(({ tabs }) => tabs.length).map(({ list }) => list),
    ['deals'],
  )
})

test('private views and tabs go with a member who is removed or whose account is deleted, and shared views stay', async () => {
  const stored = (user_id: string) =>
    beside(rapport.data_dir, async (db) => {
      const views = await db
        .selectFrom('saved_views')
        .select('name')
        .where('created_by', '=', user_id)
        .orderBy('name')
        .execute()
      const tabs = await db.selectFrom('view_tabs').select('list').where('user_id', '=', user_id).execute()
      return [views.map(({ name }) => name), tabs.length]
    })
  const removed = await member()
  const gone = await member()
  for (const { call, id } of [removed, gone]) {
    const kept = await save(call, { ...view, name: 'Kept' })
    await save(call, { ...only_me, name: 'Lost' })
    await ok(call('PUT', '/view-tabs/contacts', { tabs: [kept.id] }))
    assert.deepEqual(await stored(id), [['Kept', 'Lost'], 1])
  }
  await ok(ada('DELETE', `/members/${removed.id}`))
  await ok(gone.call('POST', '/profile/delete', { current_password: password }))
  for (const { id } of [removed, gone]) assert.deepEqual(await stored(id), [['Kept'], 0])
  const [of_gone] = (await ok(ada('GET', '/views'))).filter(
    ({ created_by }: { created_by: { id: string } | null }) => created_by?.id === gone.id,
  )
  assert.deepEqual([of_gone.name, of_gone.created_by.name], ['Kept', null])
})

test('an archive has the private views of the person who exports it, and gives them back to that member alone', async () => {
  const admin = await join(ada, rapport.url, 'admin')
  await save(ada, { ...only_me, name: 'Of Ada' })
  await save(admin.call, { ...only_me, name: 'Of the admin' })
  const exported = async (headers: Record<string, string>) =>
    Buffer.from(await (await fetch(`${rapport.url}/api/v1/workspace/export`, { headers })).arrayBuffer())
  const archive = await exported({ cookie: admin.call.cookie() })

  const [to_import] = await ok(ada('GET', '/views'))
  assert.equal(to_import.name, 'Of Ada')
  await ok(admin.call('DELETE', `/views/${(await ok(admin.call('GET', '/views')))[0].id}`))
  const start = { url: rapport.url, key: rapport.key, call: rapport.call }
  const reply = await upload(start, '?resource=workspace', archive, { 'content-type': 'application/gzip' })
  const done = await ended(start, reply.body.data.id)
  assert.deepEqual([done.status, done.failed], ['succeeded', 0])
  assert.deepEqual((await names(admin.call))[0], 'Of the admin')
  assert.ok(!(await names(ada)).includes('Of the admin'))
  assert.equal((await names(ada)).filter((name: string) => name === 'Of Ada').length, 1)
  // The undo removes it for its maker, although the key cannot see it.
  await ok(key('POST', `/imports/${done.id}/undo`))
  assert.ok(!(await names(admin.call)).includes('Of the admin'))

  const line = JSON.stringify({ ...only_me, created_by: { kind: 'person', id: 'usr_stranger', name: null } })
  const strange = await upload(
    start,
    '?resource=workspace',
    archiveOf({ 'saved_views-0001.ndjson': `${line}\n` }),
    { 'content-type': 'application/gzip' },
  )
  const { id, created, failed } = await ended(start, strange.body.data.id)
  assert.deepEqual([created, failed], [0, 1])
  assert.match(
    (await key('GET', `/imports/${id}/errors`)).text,
    /created_by,.*private view is not a member.*,not_found\r/,
  )
})
