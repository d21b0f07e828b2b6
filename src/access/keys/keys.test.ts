import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { newWorkspace, readStored } from '../../../test/database.ts'
import { dataOf, problems, refused } from '../../../test/envelope.ts'
import { callOf, client, startRapport, turnableClock, useRapport } from '../../../test/harness.ts'
import { before } from '../../../test/use.ts'
import { scopes } from '../../app.ts'

const clock = turnableClock()
const rapport = useRapport({ clock })
const call = callOf(rapport)
before(async () => {
  first = (await call('GET', path)).body.data[0]
})

const path = '/api/v1/keys'
let first: { id: string; made_by: unknown }
const later = (ms: number) => new Date(clock.now() + ms).toISOString()

async function made(body: object, by = call) {
  const reply = await by('POST', path, body)
  assert.equal(reply.status, 201, reply.text)
  const { token, ...key } = reply.body.data
  return { ...key, token, path: `${path}/${key.id}`, call: client(rapport.url, token) }
}

test('a key is made with its scopes and its end, opens just these, and its text is shown this once', async () => {
  const body = { name: ' Website ', scopes: ['contacts:read', 'contacts:write'], expires_at: later(60_000) }
  const reply = await call('POST', path, body)
  assert.equal(reply.status, 201, reply.text)
  const { id, token, ...rest } = reply.body.data
  assert.match(id, /^key_[0-9a-f]+$/)
  assert.match(token, /^crm_[0-9A-Za-z]{43}$/)
  const now = new Date(clock.now()).toISOString()
  assert.deepEqual(rest, {
    ...body,
    name: 'Website',
    created_at: now,
    last_used_at: null,
    revoked_at: null,
    made_by: { kind: 'key', id: first.id, name: 'First key' },
  })
  assert.equal(reply.headers.get('location'), `${path}/${id}`)

  const read = await call('GET', `${path}/${id}`)
  assert.deepEqual(read.body, { success: true, data: { id, ...rest } })
  assert.equal(read.headers.get('etag'), reply.headers.get('etag'))
  for (const answer of [read, await call('GET', path), await call('GET', '/api/v1/audit-log')])
    assert.ok(!answer.text.includes(token) && !answer.text.includes('hash'))

  const key = client(rapport.url, token)
  assert.equal((await key('POST', '/api/v1/contacts', { first_name: 'A', last_name: 'B' })).status, 201)
  assert.equal((await key('GET', '/api/v1/companies')).status, 403)
  assert.equal((await key('GET', path)).status, 403)
})

test('without scopes, or with null, a key may do everything that its maker may', async () => {
  for (const more of [{}, { scopes: null, expires_at: null }]) {
    const key = await made({ name: 'All', ...more })
    assert.equal(key.scopes, null)
    assert.equal(key.expires_at, null)
    assert.equal((await key.call('POST', path, { name: 'Its own' })).status, 201)
  }
})

test('an invalid new key is 422 with every failing field and the existing scopes', async () => {
  const body = { name: '', scopes: ['contacts:reed', 'deals:read'], expires_at: later(0), token: 'crm_mine' }
  const reply = await call('POST', path, body)
  assert.deepEqual(problems(reply), {
    name: 'required',
    'scopes.0': 'unknown_value',
    expires_at: 'out_of_range',
    token: 'unknown_field',
  })
  const { message } = reply.body.error.fields.find(({ field }: { field: string }) => field === 'scopes.0')
  for (const scope of scopes) assert.ok(message.includes(scope), scope)
  const cases: [object, Record<string, string>][] = [
    [{}, { name: 'required' }],
    [{ name: 'A', scopes: [] }, { scopes: 'too_few' }],
    [{ name: 'A', scopes: 'contacts:read' }, { scopes: 'invalid_type' }],
    [
      { name: 'A'.repeat(256), scopes: [null] },
      { name: 'too_long', 'scopes.0': 'invalid_type' },
    ],
    [{ name: 'A', expires_at: 'tomorrow' }, { expires_at: 'invalid_format' }],
  ]
  for (const [wrong, told] of cases) assert.deepEqual(problems(await call('POST', path, wrong)), told)
})

test('nobody gives scopes that they lack, nor everything without having everything', async () => {
  const own = ['keys:write', 'keys:read', 'contacts:read']
  const maker = await made({ name: 'Maker', scopes: own })
  const key = await made({ name: 'Less', scopes: ['contacts:read', 'contacts:read'] }, maker.call)
  assert.deepEqual(key.scopes, ['contacts:read'])
  assert.equal((await key.call('GET', '/api/v1/contacts')).status, 200)
  assert.deepEqual((await made({ name: 'The same', scopes: own }, maker.call)).scopes, own)
  for (const wanted of [{}, { scopes: null }, { scopes: ['contacts:read', 'contacts:write'] }, { scopes }])
    assert.deepEqual(problems(await maker.call('POST', path, { name: 'More', ...wanted })), {
      scopes: 'not_allowed',
    })
  // A list of all scopes is not the same as null: it does not have the scopes of later versions.
  const full = await made({ name: 'Full', scopes })
  assert.deepEqual(problems(await full.call('POST', path, { name: 'More' })), { scopes: 'not_allowed' })
})

test('a key that ends makes none that lasts longer', async () => {
  const maker = await made({ name: 'Maker', expires_at: later(60_000) })
  for (const expires_at of [undefined, null, later(60_001)])
    assert.deepEqual(problems(await maker.call('POST', path, { name: 'Longer', expires_at })), {
      expires_at: 'not_allowed',
    })
  await made({ name: 'As long', expires_at: later(60_000) }, maker.call)
})

test('a key that was taken back opens nothing within a second, while others do; once more changes nothing', async () => {
  const key = await made({ name: 'Lost' })
  const other = await made({ name: 'Other' })
  assert.equal((await key.call('GET', '/api/v1/contacts')).status, 200)
  const reply = await call('POST', `${key.path}/revoke`)
  assert.equal(reply.status, 200, reply.text)
  const revoked_at = new Date(clock.now()).toISOString()
  assert.equal(reply.body.data.revoked_at, revoked_at)
  await pause(900)
  refused(await key.call('GET', '/api/v1/contacts'), 401, 'unauthorized')
  assert.equal((await other.call('GET', '/api/v1/contacts')).status, 200)

  clock.advance(1000)
  const again = await call('POST', `${key.path}/revoke`)
  assert.deepEqual([again.status, again.body], [200, reply.body])
  const log = await call('GET', `/api/v1/audit-log?kind=api_keys&record_id=${key.id}`)
  assert.deepEqual(
    log.body.data.map(({ action, before, after }: Record<string, unknown>) => ({ action, before, after })),
    [
      { action: 'revoked', before: { revoked_at: null }, after: { revoked_at } },
      { action: 'created', before: null, after: { name: 'Lost' } },
    ],
  )
})

test('what a key has offered ends with it', async () => {
  const key = await made({ name: 'Inviting' })
  const invite = async (by: typeof call, email: string) => {
    return dataOf(await by('POST', '/api/v1/invitations', { email, role: 'admin' }), 201)
  }
  const lost = await invite(key.call, 'lost@example.com')
  const kept = await invite(call, 'kept@example.com')
  assert.equal((await call('POST', `${key.path}/revoke`)).status, 200)
  const accept = (url_path: string) => {
    const body = { token: url_path.split('#')[1], name: 'Grace Hopper', password: 'correct horse battery' }
    return client(rapport.url, null)('POST', '/api/v1/invitations/accept', body)
  }
  assert.deepEqual(problems(await accept(lost.url_path)), { token: 'not_valid' })
  const [entry] = (await call('GET', '/api/v1/audit-log?kind=invitations')).body.data
  assert.deepEqual([entry.action, entry.record_id], ['revoked', lost.id])
  assert.equal((await accept(kept.url_path)).status, 200)
})

test('an invitation of a key that ends can be accepted until the key ends, and that of another one for a week', async () => {
  const invited = async (by: typeof call, email: string) => {
    const reply = await by('POST', '/api/v1/invitations', { email, role: 'member' })
    return Date.parse(reply.body.data.expires_at) - clock.now()
  }
  const week_ms = 7 * 24 * 3600 * 1000
  const soon = await made({ name: 'Soon', expires_at: later(60_000) })
  assert.equal(await invited(soon.call, 'soon@example.com'), 60_000)
  const late = await made({ name: 'Late', expires_at: later(2 * week_ms) })
  assert.equal(await invited(late.call, 'late@example.com'), week_ms)
  assert.equal(await invited(call, 'week@example.com'), week_ms)
})

test('keys that a key has made end with it, and those that they have made; the log tells it of each', async () => {
  const maker = await made({ name: 'Maker' })
  const child = await made({ name: 'Child' }, maker.call)
  const grandchild = await made({ name: 'Grandchild' }, child.call)
  const other = await made({ name: 'Other' })
  assert.deepEqual(grandchild.made_by, { kind: 'key', id: child.id, name: 'Child' })
  assert.equal((await call('POST', `${maker.path}/revoke`)).status, 200)
  // None of them was used before, so none is remembered.
  refused(await grandchild.call('GET', path), 401, 'unauthorized')
  const log = (await call('GET', '/api/v1/audit-log?kind=api_keys&action=revoked&per_page=3')).body.data
  assert.deepEqual(log.map(({ record_id }: { record_id: string }) => record_id).reverse(), [
    maker.id,
    child.id,
    grandchild.id,
  ])
  assert.equal((await call('GET', other.path)).body.data.revoked_at, null)
})

test('keys are listed by who made them, and those that open something alone', async () => {
  const maker = await made({ name: 'Lists' })
  const live = await made({ name: 'Live' }, maker.call)
  const over = await made({ name: 'Over', expires_at: later(1000) }, maker.call)
  const gone = await made({ name: 'Gone' }, maker.call)
  await call('POST', `${gone.path}/revoke`)
  clock.advance(1000)
  const found = async (query: string) => {
    const { data, meta } = (await call('GET', `${path}?made_by=${maker.id}${query}`)).body
    return [meta.total ?? null, ...data.map(({ id }: { id: string }) => id)]
  }
  assert.deepEqual(await found(''), [3, gone.id, over.id, live.id])
  assert.deepEqual(await found('&live=true'), [1, live.id])
  assert.deepEqual(await found('&live=true&cursor=start'), [null, live.id])
  // Created by the first start, so no key or person created it.
  assert.equal(first.made_by, null)
  const ids = async (query: string): Promise<string[]> =>
    (await call('GET', `${path}?per_page=100&${query}`)).body.data.map(({ id }: { id: string }) => id)
  const all = await ids('')
  const own = [gone.id, over.id, live.id]
  const by_nobody = await ids('made_by=null')
  assert.ok(by_nobody.includes(first.id) && !by_nobody.includes(maker.id))
  assert.deepEqual(await ids(`made_by=${maker.id},key_of_nobody`), own)
  assert.deepEqual(
    await ids(`made_by=!${maker.id}`),
    all.filter((id) => !own.includes(id)),
  )
  assert.deepEqual(
    await ids('made_by=!null'),
    all.filter((id) => !by_nobody.includes(id)),
  )
  assert.equal((await call('GET', `${path}?made_by=`)).status, 422)
})

test('a key takes itself back', async () => {
  const key = await made({ name: 'Own' })
  assert.equal((await key.call('POST', `${key.path}/revoke`)).status, 200)
  await pause(900)
  refused(await key.call('GET', key.path), 401, 'unauthorized')
})

test('at its end a key opens nothing', async () => {
  const key = await made({ name: 'Short', expires_at: later(10_000) })
  clock.advance(9999)
  assert.equal((await key.call('GET', '/api/v1/contacts')).status, 200)
  clock.advance(1)
  refused(await key.call('GET', '/api/v1/contacts'), 401, 'unauthorized')
})

test('If-Match refuses to take back a key that has changed since', async () => {
  const key = await made({ name: 'Guarded' })
  const headers = { 'if-match': (await call('GET', key.path)).headers.get('etag') ?? '' }
  refused(
    await call('POST', `${key.path}/revoke`, undefined, { 'if-match': '"another"' }),
    412,
    'precondition_failed',
  )
  assert.equal((await call('POST', `${key.path}/revoke`, undefined, headers)).status, 200)
})

test('the list has every key of the workspace, newest first, by page and by cursor', async (t) => {
  const service = await startRapport({ clock })
  t.after(() => service.close())
  for (let n = 2; n <= 7; n++) await service.call('POST', path, { name: `Key ${n}` })
  const names = (reply: Awaited<ReturnType<typeof call>>) =>
    reply.body.data.map(({ name }: { name: string }) => name)
  const all = ['Key 7', 'Key 6', 'Key 5', 'Key 4', 'Key 3', 'Key 2', 'First key']
  const page = await service.call('GET', `${path}?page=2&per_page=3`)
  assert.deepEqual(names(page), all.slice(3, 6))
  assert.deepEqual(page.body.meta, { current_page: 2, last_page: 3, per_page: 3, total: 7 })
  const found: string[] = []
  for (let cursor: string | null = 'start'; cursor !== null; ) {
    const reply = await service.call('GET', `${path}?per_page=3&cursor=${cursor}`)
    found.push(...names(reply))
    cursor = reply.body.meta.next_cursor
  }
  assert.deepEqual(found, all)
  const [{ scopes: own, last_used_at }] = (await service.call('GET', `${path}?per_page=1&page=7`)).body.data
  assert.equal(own, null)
  assert.equal(last_used_at, new Date(clock.now()).toISOString())
})

test('keys of another workspace do not exist: not in the list, not by their id', async () => {
  const stranger = await newWorkspace(rapport)
  const key = await made({ name: 'Ours' })
  refused(await stranger('GET', key.path), 404, 'not_found')
  refused(await stranger('POST', `${key.path}/revoke`), 404, 'not_found')
  const listed = await stranger('GET', path)
  assert.deepEqual(
    [listed.body.meta.total, listed.body.data.map(({ name }: { name: string }) => name)],
    [1, ['Its key']],
  )
  assert.equal((await call('GET', key.path)).body.data.revoked_at, null)
})

test('a repeated creation gives the same key again, and its text is nowhere in the files', async (t) => {
  const headers = { 'idempotency-key': 'one key' }
  const first = await call('POST', path, { name: 'Once' }, headers)
  const second = await call('POST', path, { name: 'Once' }, headers)
  assert.equal(second.headers.get('idempotency-replayed'), 'true')
  assert.deepEqual(second.body, first.body)
  const stored = await readStored(rapport.data_dir)
  t.after(() => stored.close())
  const contents = await stored.contents()
  assert.ok(contents.includes(first.body.data.id))
  assert.ok(!contents.includes(first.body.data.token))
})
