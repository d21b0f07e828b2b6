import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeResetToken } from '../../src/access/people/resets.ts'
import { command_line } from '../../src/events/context.ts'
import { problems, refused } from '../envelope.ts'
import { turnableClock, useRapport } from '../harness.ts'
import { beside } from '../keys.ts'
import { browser, join, password, signIn, useOwner } from '../people.ts'

const clock = turnableClock()
const rapport = useRapport({ clock })
const ada = useOwner(rapport)

type Row = { id: string; email: string; role: string }

describe('the own account', () => {
  test('name, zone and language change at once; the e-mail with the password alone', async () => {
    const { call, email } = await join(ada, rapport.url, 'read_only')
    const body = { name: 'Grace', time_zone: 'America/New_York', language: 'de' }
    assert.deepEqual((await call('PUT', '/profile', body)).body.data, {
      ...(await call('GET', '/profile')).body.data,
      ...body,
    })
    const wrong = { name: ' ', time_zone: 'Mars/Base', language: 'fr', email: 'x' }
    assert.deepEqual(problems(await call('PUT', '/profile', wrong)), {
      name: 'required',
      time_zone: 'unknown_value',
      language: 'unknown_value',
      email: 'invalid_format',
      current_password: 'required',
    })
    const moved = { email: `new-${email}` }
    assert.deepEqual(problems(await call('PUT', '/profile', moved)), { current_password: 'required' })
    const guessed = { ...moved, current_password: 'wrong password' }
    assert.deepEqual(problems(await call('PUT', '/profile', guessed)), { current_password: 'wrong' })
    assert.equal((await call('PUT', '/profile', { ...moved, current_password: password })).status, 200)
    assert.equal((await signIn(rapport.url, moved.email)).reply.status, 200)
    refused((await signIn(rapport.url, email)).reply, 401, 'unauthorized')
    const taken = { email: 'ADA@example.com', current_password: password }
    assert.deepEqual(problems(await call('PUT', '/profile', taken)), { email: 'taken' })
    // A zone is kept in its usual capitals.
    const zone = await call('PATCH', '/profile', { time_zone: 'asia/kolkata' })
    assert.equal(zone.body.data.time_zone, 'Asia/Kolkata')
    // PUT accepts the body that GET returned.
    assert.equal((await call('PUT', '/profile', (await call('GET', '/profile')).body.data)).status, 200)
  })

  test('a change of the account is in the audit log of every workspace of the person', async () => {
    const { call, id } = await join(ada, rapport.url, 'admin')
    assert.equal((await call('POST', '/workspaces', { name: 'Elsewhere' })).status, 201)
    await call('PUT', '/profile', { name: 'Grace M. Hopper' })
    const secrets = { current_password: password, new_password: 'another good password' }
    assert.equal((await call('POST', '/profile/password', secrets)).status, 200)
    for (const by of [ada, call]) {
      const log = (await by('GET', `/audit-log?kind=users&record_id=${id}&per_page=2`)).body.data
      assert.deepEqual(
        log.map(({ action, after }: { action: string; after: unknown }) => [action, after]),
        [
          ['password_changed', null],
          ['updated', { name: 'Grace M. Hopper' }],
        ],
      )
    }
  })

  test('a link for a new password ends when the e-mail moves', async () => {
    const { call, email } = await join(ada, rapport.url, 'member')
    const token = await beside(rapport.data_dir, (db) => makeResetToken(db, clock, command_line, email))
    const moved = { email: `moved-${email}`, current_password: password }
    assert.equal((await call('PUT', '/profile', moved)).status, 200)
    const reset = { token, password: 'another good password' }
    const reply = await browser(rapport.url)('POST', '/password-reset', reset)
    assert.deepEqual(problems(reply), { token: 'not_valid' })
  })

  test('the audit log names the person who made a change, also after they left', async () => {
    const { call, id } = await join(ada, rapport.url, 'member')
    const company = (await call('POST', '/companies', { name: 'Acme' })).body.data
    const [entry] = (await ada('GET', `/audit-log?kind=companies&record_id=${company.id}`)).body.data
    assert.deepEqual(entry.actor, { kind: 'person', id, name: 'Grace Hopper' })
    await ada('DELETE', `/members/${id}`)
    const [later] = (await ada('GET', `/audit-log?actor_id=${id}&kind=companies`)).body.data
    assert.equal(later.actor.name, 'Grace Hopper')
  })
})

describe('workspaces', () => {
  test('a workspace has a name and a currency that exists; keys see their own', async () => {
    const changed = await ada('PUT', '/workspace', { name: 'Acme & Co', currency: 'USD' })
    assert.equal(changed.status, 200)
    assert.deepEqual((await rapport.call('GET', '/api/v1/workspace')).body.data, changed.body.data)
    assert.equal((await ada('GET', '/session')).body.data.workspace.currency, 'USD')
    const { data } = (await ada('GET', '/workspace')).body
    assert.deepEqual((await ada('PATCH', '/workspace', { name: 'Acme' })).body.data.name, 'Acme')
    assert.deepEqual((await ada('PUT', '/workspace', data)).body.data, data)
    // Intl lacks some codes of ISO 4217.
    for (const currency of ['VED', 'XAD', 'XCG', 'CHF'])
      assert.equal((await ada('PUT', '/workspace', { currency })).body.data?.currency, currency)
    for (const currency of ['XQQ', 'usd', 'Euro'])
      assert.ok(problems(await ada('PUT', '/workspace', { currency })).currency, currency)
    assert.deepEqual(problems(await ada('PUT', '/workspace', { currency: null, name: '' })), {
      currency: 'required',
      name: 'required',
    })
  })

  test('an admin who makes another workspace is its owner, is in it at once, and keeps their role elsewhere', async () => {
    const { call } = await join(ada, rapport.url, 'admin')
    const first = await call('POST', '/workspaces', { name: 'Own', currency: 'JPY' })
    assert.equal(first.status, 201, first.text)
    assert.deepEqual([first.body.data.workspace.currency, first.body.data.role], ['JPY', 'owner'])
    assert.equal((await call('POST', '/companies', { name: 'Mine' })).status, 201)
    const { data } = (await call('GET', '/session')).body
    assert.deepEqual(
      data.workspaces.map(({ role }: Row) => role),
      ['admin', 'owner'],
    )
    assert.deepEqual(problems(await call('PUT', '/session', { workspace_id: 9999 })), {
      workspace_id: 'not_found',
    })
    // PUT accepts the answer of GET, and changes nothing.
    assert.deepEqual((await call('PUT', '/session', data)).body.data, data)
    const back = await call('PATCH', '/session', { workspace_id: 1 })
    assert.equal(back.body.data.workspace.id, 1)
  })

  test('signing in goes to the workspace that was entered last', async () => {
    const { call, email } = await join(ada, rapport.url, 'admin')
    const where = async () => (await signIn(rapport.url, email)).reply.body.data.workspace.id
    clock.advance(1000)
    const { id } = (await call('POST', '/workspaces', { name: 'Newest' })).body.data.workspace
    assert.equal(await where(), id)
    clock.advance(1000)
    await call('PUT', '/session', { workspace_id: 1 })
    assert.equal(await where(), 1)
  })

  test('signing out with a text that has just been replaced ends the session', async () => {
    // The service remembers a text for this time. A busy machine may take longer: then try again.
    const remembered_ms = 500
    for (;;) {
      const { call } = await join(ada, rapport.url, 'admin')
      const old = browser(rapport.url)
      old.plant(call.cookie())
      const from = performance.now()
      assert.equal((await old('GET', '/session')).status, 200)
      assert.equal((await call('POST', '/workspaces', { name: 'Tab' })).status, 201)
      const reply = await old('DELETE', '/session')
      if (reply.status === 401 && performance.now() - from > remembered_ms) continue
      assert.equal(reply.status, 200, reply.text)
      refused(await call('GET', '/session'), 401, 'unauthorized')
      return
    }
  })

  test('members, readers and keys make no workspace', async () => {
    for (const role of ['member', 'read_only'] as const) {
      const { call } = await join(ada, rapport.url, role)
      const { message } = refused(await call('POST', '/workspaces', { name: 'Own' }), 403, 'forbidden')
      assert.match(message, /workspace:write/)
    }
    const reply = await rapport.call('POST', '/api/v1/workspaces', { name: 'Own' })
    assert.match(refused(reply, 403, 'forbidden').message, /signed in/)
  })
})
