import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { problems, refused } from '../envelope.ts'
import { client, turnableClock, useRapport } from '../harness.ts'
import { makeKey } from '../keys.ts'
import { type Browser, browser, invite, join, password, setUp } from '../people.ts'
import { before } from '../use.ts'

const clock = turnableClock()
const day_ms = 24 * 3600 * 1000
const rapport = useRapport({ clock })
let ada: Browser
let ada_id: string
before(async () => {
  ada = await setUp(rapport)
  ada_id = (await ada('GET', '/session')).body.data.user.id
})

type Row = { id: string; email: string; role: string }
const members = async (): Promise<Row[]> => (await ada('GET', '/members?per_page=100')).body.data
const accept = (token: string, body: object = {}) =>
  browser(rapport.url)('POST', '/invitations/accept', { token, name: 'Grace Hopper', password, ...body })

describe('invitations', () => {
  test('an invitation is looked at, accepted once, and makes a member who is signed in', async () => {
    const reply = await ada('POST', '/invitations', { email: 'grace@example.com', role: 'member' })
    assert.equal(reply.status, 201)
    const { id, url_path, expires_at } = reply.body.data
    assert.match(url_path, /^\/invitation#[\w-]{43}$/)
    assert.equal(Date.parse(expires_at) - clock.now(), 7 * day_ms)
    const [listed] = (await ada('GET', '/invitations')).body.data
    const { url_path: _, mail_id, ...shown } = reply.body.data
    assert.match(mail_id, /^mail_\w+$/)
    assert.deepEqual(listed, shown)

    const token = url_path.split('#')[1]
    const seen = await browser(rapport.url)('POST', '/invitations/look-up', { token })
    assert.deepEqual(seen.body.data, {
      workspace_name: 'Acme',
      email: 'grace@example.com',
      role: 'member',
      has_account: false,
    })
    assert.deepEqual(problems(await accept(token, { name: undefined, password: 'short' })), {
      name: 'required',
      password: 'too_short',
    })
    const accepted = await accept(token)
    assert.equal(accepted.status, 200)
    assert.equal(accepted.body.data.role, 'member')
    assert.equal(accepted.body.data.user.name, 'Grace Hopper')
    assert.deepEqual(problems(await accept(token)), { token: 'not_valid' })
    assert.ok(!(await ada('GET', '/invitations')).body.data.some((one: Row) => one.id === id))
    const [newest] = await members()
    assert.deepEqual([newest?.email, newest?.role], ['grace@example.com', 'member'])
  })

  test('of two who accept at once, one does', async () => {
    const token = await invite(ada, 'member', 'twice@example.com')
    const replies = await Promise.all([accept(token), accept(token)])
    assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 422])
    assert.equal((await members()).filter(({ email }) => email === 'twice@example.com').length, 1)
  })

  test('who has an account already accepts with its password, and is a member of both workspaces', async () => {
    const { call: grace, email } = await join(ada, rapport.url, 'member')
    await ada('POST', '/workspaces', { name: 'Second' })
    const token = await invite(ada, 'read_only', email.toUpperCase())
    const look = await browser(rapport.url)('POST', '/invitations/look-up', { token })
    assert.equal(look.body.data.has_account, true)
    assert.deepEqual(problems(await accept(token, { password: 'wrong password' })), { password: 'wrong' })
    const accepted = await accept(token, { name: undefined })
    assert.equal(accepted.status, 200, accepted.text)
    assert.deepEqual(
      accepted.body.data.workspaces.map(({ name, role }: { name: string; role: string }) => [name, role]),
      [
        ['Acme', 'member'],
        ['Second', 'read_only'],
      ],
    )
    assert.equal(accepted.body.data.workspace.name, 'Second')
    // A session stays in the workspace that it is in.
    assert.equal((await grace('GET', '/session')).body.data.workspace.name, 'Acme')
    assert.equal((await ada('PUT', '/session', { workspace_id: 1 })).status, 200)
  })

  test('a link counts seven days, until it is taken back, and until the same e-mail gets another one', async () => {
    const late = await invite(ada, 'member', 'late@example.com')
    clock.advance(7 * day_ms)
    assert.deepEqual(problems(await accept(late)), { token: 'not_valid' })
    const first = await invite(ada, 'member', 'again@example.com')
    const reply = await ada('POST', '/invitations', { email: 'Again@example.com', role: 'admin' })
    assert.deepEqual(problems(await accept(first)), { token: 'not_valid' })
    assert.equal((await ada('DELETE', `/invitations/${reply.body.data.id}`)).status, 200)
    assert.deepEqual(problems(await accept(reply.body.data.url_path.split('#')[1])), { token: 'not_valid' })
    refused(await ada('DELETE', `/invitations/${reply.body.data.id}`), 404, 'not_found')
  })

  test('a member is not invited again', async () => {
    const { email } = await join(ada, rapport.url, 'member')
    const body = { email: email.toUpperCase(), role: 'admin' }
    assert.deepEqual(problems(await ada('POST', '/invitations', body)), { email: 'taken' })
    assert.deepEqual(problems(await ada('POST', '/invitations', { email: 'no', role: 'king' })), {
      email: 'invalid_format',
      role: 'unknown_value',
    })
  })

  test('an invitation is read where its creation says it is, by those alone who may invite', async () => {
    const reply = await ada('POST', '/invitations', { email: 'placed@example.com', role: 'member' })
    const at = String(reply.headers.get('location')).replace('/api/v1', '')
    const { url_path, mail_id: _, ...shown } = reply.body.data
    const read = await ada('GET', at)
    assert.deepEqual(read.body.data, shown)
    const etag = String(read.headers.get('etag'))
    assert.equal(etag, reply.headers.get('etag'))
    assert.equal((await ada('GET', at, undefined, { 'if-none-match': etag })).status, 304)
    const { call: member } = await join(ada, rapport.url, 'member')
    for (const path of [at, '/invitations']) refused(await member('GET', path), 403, 'forbidden')
    await ada('DELETE', at)
    refused(await ada('GET', at), 404, 'not_found')
  })

  test('nobody takes an e-mail that another one is invited by', async () => {
    const { call, email } = await join(ada, rapport.url, 'read_only')
    const token = await invite(ada, 'admin', 'Chief@example.com')
    const squat = { email: 'chief@Example.com', current_password: password }
    assert.deepEqual(problems(await call('PUT', '/profile', squat)), { email: 'taken' })
    assert.equal((await accept(token)).status, 200)
    // An invitation to the own e-mail does not block the change.
    await call('PUT', '/profile', { name: 'Other' })
    const { call: admin } = await join(ada, rapport.url, 'admin')
    await admin('POST', '/workspaces', { name: 'Third' })
    await invite(admin, 'member', email)
    const capitals = { email: email.toUpperCase(), current_password: password }
    assert.equal((await call('PUT', '/profile', capitals)).status, 200)
  })

  test('a workspace and a person invite a hundred a day, also when they are taken back', async () => {
    const { call } = await join(ada, rapport.url, 'admin')
    assert.equal((await call('POST', '/workspaces', { name: 'Busy' })).status, 201)
    const { call: mate } = await join(call, rapport.url, 'admin')
    const once = (n: number, by = call) =>
      by('POST', '/invitations', { email: `mass${n % 3}@example.com`, role: 'member' })
    const one = await once(0)
    assert.equal((await call('DELETE', `/invitations/${one.body.data.id}`)).status, 200)
    clock.advance(60_000)
    for (let n = 1; n < 99; n++) assert.equal((await once(n)).status, 201)
    const early = await once(100)
    refused(early, 429, 'rate_limited')
    assert.equal(Number(early.headers.get('retry-after')) * 1000, day_ms - 60_000)
    clock.advance(day_ms - 60_000)
    for (const n of [100, 101]) assert.equal((await once(n)).status, 201)
    refused(await once(102), 429, 'rate_limited')
    // Neither may somebody else here, nor the same person elsewhere; but somebody else elsewhere.
    refused(await once(103, mate), 429, 'rate_limited')
    for (const by of [call, mate])
      assert.equal((await by('POST', '/workspaces', { name: 'More' })).status, 201)
    refused(await once(104), 429, 'rate_limited')
    assert.equal((await once(105, mate)).status, 201)
  })

  test('an invitation ends when its maker may no longer make it', async () => {
    const { call: admin, id } = await join(ada, rapport.url, 'admin')
    const offered = await invite(admin, 'admin', 'offered@example.com')
    assert.equal((await ada('PUT', `/members/${id}`, { role: 'member' })).status, 200)
    assert.deepEqual(problems(await accept(offered)), { token: 'not_valid' })
  })
})

describe('roles', () => {
  test('an admin makes and removes no owner, and gives every other role', async () => {
    const { call: admin } = await join(ada, rapport.url, 'admin')
    const { id } = await join(ada, rapport.url, 'read_only')
    refused(await admin('POST', '/invitations', { email: 'o@example.com', role: 'owner' }), 403, 'forbidden')
    refused(await admin('PUT', `/members/${id}`, { role: 'owner' }), 403, 'forbidden')
    refused(await admin('PUT', `/members/${ada_id}`, { role: 'member' }), 403, 'forbidden')
    refused(await admin('DELETE', `/members/${ada_id}`), 403, 'forbidden')
    for (const role of ['admin', 'member', 'read_only'])
      assert.equal((await admin('PUT', `/members/${id}`, { role })).body.data.role, role)
    assert.equal((await admin('DELETE', `/members/${id}`)).status, 200)
  })

  test('a key is an admin at most, and gives no role with scopes that it lacks', async () => {
    const { id } = await join(ada, rapport.url, 'read_only')
    const put = (call: ReturnType<typeof client>, role: string) =>
      call('PUT', `/api/v1/members/${id}`, { role })
    refused(await put(rapport.call, 'owner'), 403, 'forbidden')
    refused(await rapport.call('DELETE', `/api/v1/members/${ada_id}`), 403, 'forbidden')
    assert.equal((await put(rapport.call, 'admin')).status, 200)
    const few = await makeKey(rapport, { scopes: ['members:write', 'members:read'] })
    refused(await put(few.call, 'read_only'), 403, 'forbidden')
    const body = { email: 'admin@example.com', role: 'admin' }
    refused(await few.call('POST', '/api/v1/invitations', body), 403, 'forbidden')
  })

  test('the last owner neither goes nor steps down, also when two step down at once', async () => {
    refused(await ada('PUT', `/members/${ada_id}`, { role: 'admin' }), 409, 'conflict')
    refused(await ada('DELETE', `/members/${ada_id}`), 409, 'conflict')
    const { call: grace, id } = await join(ada, rapport.url, 'owner')
    const replies = await Promise.all([
      ada('PUT', `/members/${ada_id}`, { role: 'member' }),
      grace('PUT', `/members/${id}`, { role: 'member' }),
    ])
    assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 409])
    const call = client(rapport.url, rapport.key)
    const all: Row[] = (await call('GET', '/api/v1/members?per_page=100')).body.data
    const [owner] = all.filter(({ role }) => role === 'owner')
    // The remaining owner makes the other one an owner again.
    const left = owner?.id === id ? grace : ada
    assert.equal((await left('PUT', `/members/${ada_id}`, { role: 'owner' })).status, 200)
    await new Promise((resolve) => setTimeout(resolve, 600))
    assert.equal((await ada('PUT', `/members/${id}`, { role: 'member' })).status, 200)
  })

  test('a member is read alone, and PATCH does what PUT does', async () => {
    const { id, email } = await join(ada, rapport.url, 'member')
    const { data } = (await ada('GET', `/members/${id}`)).body
    assert.deepEqual([data.id, data.email, data.role], [id, email, 'member'])
    assert.equal((await ada('PATCH', `/members/${id}`, { role: 'admin' })).body.data.role, 'admin')
    assert.equal((await ada('PUT', `/members/${id}`, data)).body.data.role, 'member')
    refused(await ada('GET', '/members/usr_none'), 404, 'not_found')
  })

  test('a change of a role obeys If-Match, and without a change nothing happens', async () => {
    const { id } = await join(ada, rapport.url, 'member')
    const reply = await ada('PUT', `/members/${id}`, { role: 'admin' })
    const etag = String(reply.headers.get('etag'))
    const same = await ada('PUT', `/members/${id}`, { role: 'admin' }, { 'if-match': etag })
    assert.equal(same.headers.get('etag'), etag)
    await ada('PUT', `/members/${id}`, { role: 'member' })
    const late = await ada('PUT', `/members/${id}`, { role: 'read_only' }, { 'if-match': etag })
    refused(late, 412, 'precondition_failed')
    refused(await ada('PUT', '/members/usr_none', { role: 'member' }), 404, 'not_found')
  })
})

describe('the keys of a member', () => {
  const makes = async (role: 'admin' | 'owner' = 'admin') => {
    const { call, id } = await join(ada, rapport.url, role)
    const { id: key_id, token, made_by } = (await call('POST', '/keys', { name: 'His' })).body.data
    assert.deepEqual(made_by, { kind: 'person', id, name: 'Grace Hopper' })
    const his = client(rapport.url, token)
    const child = (await his('POST', '/api/v1/keys', { name: 'Made by it' })).body.data.id
    return { call, id, keys: [key_id, child] as string[] }
  }
  const revoked = async (keys: string[]) =>
    Promise.all(keys.map(async (id) => (await ada('GET', `/keys/${id}`)).body.data.revoked_at !== null))
  const number = async (id: string) =>
    (await ada('GET', `/keys?made_by=${id}&live=true&per_page=1`)).body.meta.total

  test('they stay when the member leaves or may no longer make keys', async () => {
    const { id, keys } = await makes()
    assert.equal((await ada('PUT', `/members/${id}`, { role: 'member' })).status, 200)
    assert.equal((await ada('DELETE', `/members/${id}`)).status, 200)
    assert.deepEqual(await revoked(keys), [false, false])
    assert.equal(await number(id), 1)
  })

  test('they end with the keys that they have made if the removal says so', async () => {
    const { id, keys } = await makes()
    assert.equal((await ada('DELETE', `/members/${id}?revoke_keys=true`)).status, 200)
    assert.deepEqual(await revoked(keys), [true, true])
    assert.equal(await number(id), 0)
    const [entry] = (await ada('GET', `/audit-log?kind=api_keys&record_id=${keys[1]}`)).body.data
    assert.deepEqual([entry.action, entry.actor.id], ['revoked', ada_id])
  })

  test('they end if the change of the role says so, also after the change of the role', async () => {
    const { id, keys } = await makes()
    assert.equal((await ada('PUT', `/members/${id}`, { role: 'member', revoke_keys: false })).status, 200)
    assert.deepEqual(await revoked(keys), [false, false])
    const reply = await ada('PUT', `/members/${id}`, { role: 'member', revoke_keys: true })
    assert.deepEqual(Object.keys(reply.body.data), [
      'id',
      'name',
      'email',
      'role',
      'created_at',
      'former_names',
    ])
    assert.deepEqual(await revoked(keys), [true, true])
  })

  test('who may not write keys revokes none by a change of a member, nor does a refused change', async () => {
    const { id, keys } = await makes()
    const scopes = ['members:write', 'members:read', ...(await readers())]
    const few = await makeKey(rapport, { scopes })
    const path = `/api/v1/members/${id}`
    refused(await few.call('PUT', path, { role: 'read_only', revoke_keys: true }), 403, 'forbidden')
    refused(await few.call('DELETE', `${path}?revoke_keys=true`), 403, 'forbidden')
    const owner = await makes('owner')
    const admin = await join(ada, rapport.url, 'admin')
    const demotion = { role: 'member', revoke_keys: true }
    refused(await admin.call('PUT', `/members/${owner.id}`, demotion), 403, 'forbidden')
    refused(await admin.call('DELETE', `/members/${owner.id}?revoke_keys=true`), 403, 'forbidden')
    assert.deepEqual(await revoked([...keys, ...owner.keys]), [false, false, false, false])
    // An administrator has more scopes than this key.
    refused(await few.call('PUT', path, { role: 'read_only' }), 403, 'forbidden')
    assert.equal((await ada('PUT', `/members/${id}`, { role: 'read_only' })).status, 200)
  })
  const readers = async () =>
    (await (await join(ada, rapport.url, 'read_only')).call('GET', '/session')).body.data.scopes
})
