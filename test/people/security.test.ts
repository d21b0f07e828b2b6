// biome-ignore-all lint/suspicious/noExplicitAny: the document is looked at as its readers get it
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { hashToken } from '../../src/db/token-hash.ts'
import { readStored } from '../database.ts'
import { refused } from '../envelope.ts'
import { client, turnableClock, useRapport } from '../harness.ts'
import { type Browser, browser, invite, join, password, setUp, setupToken, signIn } from '../people.ts'
import { before } from '../use.ts'
import { until } from '../webhooks.ts'

const clock = turnableClock()
const day_ms = 24 * 3600 * 1000
const rapport = useRapport({ clock, env: { TRUSTED_PROXIES: '127.0.0.0/8' } })
let ada: Browser
let operations: { method: string; path: string; operation: any }[]
before(async () => {
  ada = await setUp(rapport)
  const { paths } = (await rapport.call('GET', '/api/v1/openapi.json')).body
  operations = Object.entries<any>(paths).flatMap(([path, methods]) =>
    Object.entries<any>(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path: path.replace('/api/v1', '').replaceAll(/\{\w+\}/g, '1'),
      operation,
    })),
  )
})

// The cache of the gate expires after 500 ms. Tests that wait for it run concurrently.
const settle = () => pause(600)
const email = 'ada@example.com'

describe('another origin', () => {
  const writing = () => operations.filter(({ method }) => method !== 'GET')

  test('no writing operation takes a session, or signs in, from a page of another origin', async () => {
    const foreign: Record<string, string>[] = [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: rapport.url, 'sec-fetch-site': 'cross-site' },
      { origin: rapport.url.replace('127.0.0.1', 'localhost') },
    ]
    assert.ok(writing().length > 40)
    await Promise.all(
      foreign.map(async (headers) => {
        for (const { method, path } of writing()) {
          const reply = await ada(method, path, {}, headers)
          assert.match(refused(reply, 403, 'forbidden').message, /another origin/, `${method} ${path}`)
        }
      }),
    )
    assert.equal((await ada('GET', '/session')).status, 200)
  })

  test('over https, an http page of the same host is of another origin; an https page is let in', async () => {
    const { host } = new URL(rapport.url)
    const signInFrom = (origin: string) =>
      browser(rapport.url, { 'x-forwarded-proto': 'https', origin })('POST', '/session', { email, password })
    refused(await signInFrom(`http://${host}`), 403, 'forbidden')
    assert.equal((await signInFrom(`https://${host}`)).status, 200)
  })

  test('the own origin is let in, and so is what comes from no page', async () => {
    const own: Record<string, string>[] = [
      { 'sec-fetch-site': 'same-origin' },
      { 'sec-fetch-site': 'none' },
      { origin: rapport.url },
      {},
    ]
    for (const headers of own) {
      const reply = await ada('POST', '/companies', { name: 'Acme' }, headers)
      assert.equal(reply.status, 201, reply.text)
    }
  })

  test('a key needs no origin: no browser sends it by itself', async () => {
    const headers = { origin: 'https://tool.example', 'sec-fetch-site': 'cross-site' }
    assert.equal((await rapport.call('POST', '/api/v1/companies', { name: 'Acme' }, headers)).status, 201)
  })
})

describe('the cookie', { concurrency: true }, () => {
  test('is out of the reach of scripts and other sites, and lasts no longer than any session', async () => {
    const { reply } = await signIn(rapport.url, email)
    const [set = ''] = reply.headers.getSetCookie()
    assert.match(set, /^rapport_session=[\w-]{43}; Max-Age=7776000; Path=\/; HttpOnly; SameSite=Strict$/)
    assert.equal(reply.headers.get('cache-control'), 'no-store')
  })

  test('over https it is for https and this host alone, and the plain one counts for nothing', async () => {
    const https = { 'x-forwarded-proto': 'https' }
    const call = browser(rapport.url, https)
    const reply = await call('POST', '/session', { email, password })
    assert.match(
      String(reply.headers.getSetCookie()[0]),
      /^__Host-rapport_session=[\w-]{43}; Max-Age=7776000; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
    )
    assert.equal((await call('GET', '/session')).status, 200)
    // A neighbour under the same domain could have set that one.
    const tossed = browser(rapport.url, https)
    tossed.plant(call.cookie().replace('__Host-', ''))
    refused(await tossed('GET', '/session'), 401, 'unauthorized')
    tossed.plant(`rapport_session=${'a'.repeat(43)}; ${call.cookie()}`)
    assert.equal((await tossed('GET', '/session')).status, 200)
  })

  test('answers to a session are in no cache', async () => {
    for (const path of ['/session', '/companies', '/members'])
      assert.equal((await ada('GET', path)).headers.get('cache-control'), 'no-store')
    assert.equal((await browser(rapport.url)('GET', '/setup')).headers.get('cache-control'), 'no-store')
  })

  test('its text is no key, and a key is no cookie', async () => {
    refused(await client(rapport.url, ada.token())('GET', '/api/v1/companies'), 401, 'unauthorized')
    const call = browser(rapport.url)
    call.plant(`rapport_session=${rapport.key}`)
    refused(await call('GET', '/companies'), 401, 'unauthorized')
    // With a key that is not valid, the cookie does not help.
    const both = { authorization: 'Bearer crm_wrong' }
    refused(await ada('GET', '/companies', undefined, both), 401, 'unauthorized')
  })

  test('it counts beside a password that a proxy in front asks for, but not beside a key', async () => {
    for (const authorization of ['Basic dTpw', 'Digest username="u"', 'Bearers of news'])
      assert.equal((await ada('GET', '/session', undefined, { authorization })).status, 200)
    for (const authorization of ['Bearer', 'bearer  ', 'Bearer two words', 'Bearer crm_wrong'])
      refused(await ada('GET', '/session', undefined, { authorization }), 401, 'unauthorized')
    const headers = { authorization: 'Basic dTpw', 'sec-fetch-site': 'cross-site' }
    refused(await ada('POST', '/companies', { name: 'Acme' }, headers), 403, 'forbidden')
    refused(
      await browser(rapport.url)('GET', '/session', undefined, { authorization: 'Basic dTpw' }),
      401,
      'unauthorized',
    )
  })

  test('signing in gives a fresh session, and ends the one whose cookie was there before', async () => {
    const planted = 'A'.repeat(43)
    const victim = browser(rapport.url)
    victim.plant(`rapport_session=${planted}`)
    assert.equal((await victim('POST', '/session', { email, password })).status, 200)
    assert.notEqual(victim.token(), planted)
    const attacker = browser(rapport.url)
    attacker.plant(`rapport_session=${planted}`)
    refused(await attacker('GET', '/session'), 401, 'unauthorized')

    const { call: mallory } = await join(ada, rapport.url, 'member')
    const trapped = browser(rapport.url)
    trapped.plant(mallory.cookie())
    const { body } = await trapped('POST', '/session', { email, password })
    assert.equal(body.data.user.email, email)
    assert.notEqual(trapped.token(), mallory.token())
    await settle()
    refused(await mallory('GET', '/session'), 401, 'unauthorized')
  })

  test('going to another workspace changes the text, and the old one is nobody’s', async () => {
    const { call } = await signIn(rapport.url, email)
    const before = call.cookie()
    assert.equal((await call('POST', '/workspaces', { name: 'Second' })).status, 201)
    assert.notEqual(call.cookie(), before)
    const old = browser(rapport.url)
    old.plant(before)
    await settle()
    refused(await old('GET', '/companies'), 401, 'unauthorized')
    assert.deepEqual((await call('GET', '/companies')).body.data, [])
  })
})

describe('roles', () => {
  // Operations of any signed-in person on their own data.
  const own = [
    'PUT /session',
    'DELETE /session',
    'DELETE /sessions/1',
    'PUT /profile',
    'PATCH /session',
    'PATCH /profile',
    'POST /profile/password',
    'POST /profile/delete',
    'POST /notifications/read',
    'POST /calendar-feeds',
    'PUT /calendar-feeds/1',
    'PATCH /calendar-feeds/1',
    'DELETE /calendar-feeds/1',
    'POST /busy-calendars',
    'PUT /busy-calendars/1',
    'PATCH /busy-calendars/1',
    'DELETE /busy-calendars/1',
    'POST /busy-calendars/1/refresh',
    'PUT /view-tabs/1',
    'PATCH /view-tabs/1',
  ]

  test('a reader is refused on every operation that writes, before anything is looked at', async () => {
    const { call } = await join(ada, rapport.url, 'read_only')
    let tried = 0
    for (const { method, path, operation } of operations) {
      const name = `${method} ${path}`
      if (method === 'GET' || operation.security?.length === 0) continue
      if (own.includes(name)) {
        assert.deepEqual(operation.security, [{ session: [] }], name)
        continue
      }
      tried++
      // A new workspace is a person's, who needs the scope as well.
      const people_only = name === 'POST /workspaces'
      assert.deepEqual(operation.security, people_only ? [{ session: [] }] : undefined, name)
      const { message } = refused(await call(method, path, {}), 403, 'forbidden')
      const scopes = [operation['x-scope'], ...(operation['x-or-scopes'] ?? [])]
      assert.equal(message, `Your role lacks ${scopes.join(' or ')}.`, name)
    }
    assert.ok(tried > 40, String(tried))
  })

  test('a member is refused on keys, webhooks, members, the workspace and the audit log', async () => {
    const { call } = await join(ada, rapport.url, 'member')
    let tried = 0
    for (const { method, path, operation } of operations) {
      const scope = String(operation['x-scope'])
      if (!/^(keys|webhooks|audit_log):|^(members|workspace):write/.test(scope)) continue
      tried++
      assert.match(
        refused(await call(method, path, method === 'GET' ? undefined : {}), 403, 'forbidden').message,
        new RegExp(scope),
      )
    }
    assert.ok(tried > 15, String(tried))
    assert.equal((await call('POST', '/companies', { name: 'Acme' })).status, 201)
  })

  test('a person of another workspace reaches nothing by an id', async () => {
    const { id: member, session_id } = await join(ada, rapport.url, 'member')
    const reply = await ada('POST', '/invitations', { email: 'open@example.com', role: 'member' })
    const invitation = reply.body.data.id
    const company = (await ada('POST', '/companies', { name: 'Acme' })).body.data.id
    const { call: eve } = await join(ada, rapport.url, 'admin')
    assert.equal((await eve('POST', '/workspaces', { name: 'Eve’s' })).status, 201)
    const tries: [string, string, object?][] = [
      ['GET', `/companies/${company}`],
      ['PUT', `/companies/${company}`, { name: 'Mine' }],
      ['DELETE', `/companies/${company}`],
      ['GET', `/members/${member}`],
      ['PUT', `/members/${member}`, { role: 'read_only' }],
      ['DELETE', `/members/${member}`],
      ['GET', `/invitations/${invitation}`],
      ['DELETE', `/invitations/${invitation}`],
      ['DELETE', `/sessions/${session_id}`],
    ]
    for (const [method, path, body] of tries) refused(await eve(method, path, body), 404, 'not_found')
    assert.deepEqual(
      (await eve('GET', '/members')).body.data.map(({ role }: any) => role),
      ['owner'],
    )
    assert.deepEqual((await eve('GET', '/invitations')).body.data, [])
    assert.equal((await eve('GET', '/session')).body.data.role, 'owner')
  })

  test('a key cannot do what is a person’s own', async () => {
    for (const { method, path, operation } of operations) {
      if (operation.security?.length !== 1) continue
      const reply = await rapport.call(method, `/api/v1${path}`, method === 'GET' ? undefined : {})
      assert.match(refused(reply, 403, 'forbidden').message, /signed in/)
    }
  })
})

describe('the end of a session', { concurrency: true }, () => {
  test('signing out, ending it from afar, and removing the member count within a second', async () => {
    const { call, email: mine, id } = await join(ada, rapport.url, 'member')
    const second = await signIn(rapport.url, mine)
    const { session_id } = second.reply.body.data
    const list = (await call('GET', '/sessions')).body.data
    assert.deepEqual(
      list.map(({ id, current }: any) => [id === session_id, current]),
      [
        [true, false],
        [false, true],
      ],
    )
    const cookie = second.call.cookie()
    assert.equal((await second.call('GET', '/session')).status, 200)
    // It has never had an entity tag.
    const match = { 'if-match': '"any"' }
    refused(await call('DELETE', `/sessions/${session_id}`, undefined, match), 412, 'precondition_failed')
    assert.equal((await call('DELETE', `/sessions/${session_id}`)).status, 200)

    const third = await signIn(rapport.url, mine)
    const signed_out = third.call.cookie()
    const out = await third.call('DELETE', '/session')
    assert.match(String(out.headers.getSetCookie()[0]), /^rapport_session=; Max-Age=0; Path=\/; HttpOnly/)

    assert.equal((await ada('DELETE', `/members/${id}`)).status, 200)
    await settle()
    const { message } = refused(await second.call('GET', '/session'), 401, 'unauthorized')
    assert.match(message, /^Sign in, or send/)
    second.call.plant(cookie)
    refused(await second.call('GET', '/session'), 401, 'unauthorized')
    third.call.plant(signed_out)
    refused(await third.call('GET', '/session'), 401, 'unauthorized')
    refused(await call('GET', '/companies'), 401, 'unauthorized')
    refused((await signIn(rapport.url, mine)).reply, 403, 'forbidden')
  })

  test('a new password ends all other sessions, and the old one lets nobody in', async () => {
    const { call, email: mine } = await join(ada, rapport.url, 'member')
    const other = await signIn(rapport.url, mine)
    const body = { current_password: password, new_password: 'battery staple horse' }
    const headers = { 'idempotency-key': 'never-kept' }
    assert.equal((await call('POST', '/profile/password', body, headers)).status, 200)
    await settle()
    assert.equal((await call('GET', '/session')).status, 200)
    refused(await other.call('GET', '/session'), 401, 'unauthorized')
    refused((await signIn(rapport.url, mine)).reply, 401, 'unauthorized')
    assert.equal((await signIn(rapport.url, mine, body.new_password)).reply.status, 200)
    // Not even a hash of the body, by which passwords could be tried out.
    const stored = await readStored(rapport.data_dir)
    const kept = await stored.rows('SELECT * FROM idempotency_keys WHERE idempotency_key = ?', 'never-kept')
    await stored.close()
    assert.deepEqual(kept, [])
  })

  test('a changed role counts within a second, in sessions that are open', async () => {
    const { call, id } = await join(ada, rapport.url, 'member')
    assert.equal((await call('POST', '/companies', { name: 'Acme' })).status, 201)
    assert.equal((await ada('PUT', `/members/${id}`, { role: 'read_only' })).status, 200)
    await settle()
    refused(await call('POST', '/companies', { name: 'Acme' }), 403, 'forbidden')
    assert.equal((await call('GET', '/session')).body.data.role, 'read_only')
  })
})

describe('time', () => {
  test('a session ends when it was not used for thirty days, and after ninety in any case', async () => {
    const unused = await signIn(rapport.url, email)
    const used = await signIn(rapport.url, email)
    const stored = await readStored(rapport.data_dir)
    const { session_id } = used.reply.body.data
    for (const days of [29, 29, 29]) {
      clock.advance(days * day_ms)
      assert.equal((await used.call('GET', '/session')).status, 200)
      // The use is recorded in the background.
      const now = new Date(clock.now()).toISOString()
      await until(
        () => stored.rows('SELECT last_used_at FROM sessions WHERE id = ?', session_id),
        ([session]) => session?.last_used_at === now,
      )
      await settle()
    }
    await stored.close()
    refused(await unused.call('GET', '/session'), 401, 'unauthorized')
    clock.advance(3 * day_ms - 1)
    assert.equal((await used.call('GET', '/session')).status, 200)
    clock.advance(1)
    refused(await used.call('GET', '/session'), 401, 'unauthorized')
    ada = (await signIn(rapport.url, email)).call
  })
})

test('neither the database nor the audit log holds a password or the text of a session or a link', async () => {
  const token = await invite(ada, 'member', 'secret@example.com')
  const key = { 'idempotency-key': 'once' }
  const sealed = await ada('POST', '/invitations', { email: 'sealed@example.com', role: 'member' }, key)
  const { call } = await join(ada, rapport.url, 'member')
  const texts = [
    password,
    'battery staple horse',
    'wrong password',
    ada.token(),
    call.token(),
    token,
    setupToken(rapport),
    sealed.body.data.url_path.split('#')[1],
  ]
  const stored = await readStored(rapport.data_dir)
  const bytes = await stored.contents()
  const log = JSON.stringify(await stored.rows('SELECT * FROM audit_log'))
  await stored.close()
  assert.ok(bytes.includes(hashToken(ada.token())))
  for (const text of texts) assert.ok(text && !bytes.includes(text), text)
  for (const text of [...texts, '$argon2', hashToken(ada.token())]) assert.ok(!log.includes(text), text)
})
