import assert from 'node:assert/strict'
import { test } from 'node:test'
import { problems, refused } from '../envelope.ts'
import { startRapport, turnableClock } from '../harness.ts'
import { browser, password, setUp, setupToken, signIn } from '../people.ts'
import { scratchFolder, serveProcess } from '../process.ts'
import { runRapport } from '../run-rapport.ts'

const first = { name: 'Ada Lovelace', email: 'ada@example.com', password, workspace_name: 'Acme' }

test('the link makes the owner of the workspace that the start has made, once, and signs in', async (t) => {
  const rapport = await startRapport()
  t.after(() => rapport.close())
  const call = browser(rapport.url)
  const state = async () => (await browser(rapport.url)('GET', '/setup')).body.data
  assert.deepEqual(await state(), { needed: true })
  refused(await browser(rapport.url)('GET', '/setup?x=1'), 400, 'bad_request')
  const token = setupToken(rapport)
  assert.match(String(rapport.setup_url), /^http:\/\/127\.0\.0\.1:\d+\/setup#[\w-]{43}$/)

  assert.deepEqual(problems(await call('POST', '/setup', { ...first, token: `${token.slice(1)}x` })), {
    token: 'not_valid',
  })
  const wrong = {
    token,
    name: ' ',
    email: 'ada',
    password: 'short',
    workspace_name: 7,
    time_zone: 'Mars',
    currency: 'XQQ',
  }
  assert.deepEqual(problems(await call('POST', '/setup', wrong)), {
    name: 'required',
    email: 'invalid_format',
    password: 'too_short',
    workspace_name: 'invalid_type',
    time_zone: 'unknown_value',
    currency: 'unknown_value',
  })
  const easy = { ...first, token, email: 'Ada@Example.com', password: 'ada@example.COM' }
  assert.deepEqual(problems(await call('POST', '/setup', easy)), { password: 'too_easy' })
  assert.equal(call.cookie(), '')

  const more = { time_zone: 'Europe/Berlin', language: 'de', currency: 'USD' }
  const reply = await call('POST', '/setup', { ...first, ...more, token })
  assert.equal(reply.status, 200, reply.text)
  const { user, workspace, role, workspaces } = reply.body.data
  assert.deepEqual([user.name, user.time_zone, user.language], [first.name, 'Europe/Berlin', 'de'])
  assert.deepEqual(
    [workspace, role, workspaces.length],
    [
      {
        id: 1,
        name: 'Acme',
        currency: 'USD',
        ...{ deal_stages: [], lost_reasons: [], contact_stages: [] },
      },
      'owner',
      1,
    ],
  )
  assert.deepEqual((await call('GET', '/session')).body, reply.body)
  // Records that the first key created are there.
  await rapport.call('POST', '/api/v1/companies', { name: 'By key' })
  assert.equal((await call('GET', '/companies')).body.meta.total, 1)

  assert.deepEqual(await state(), { needed: false })
  refused(await browser(rapport.url)('POST', '/setup', { ...first, token }), 409, 'conflict')
})

test('of two concurrent set-ups one makes the account, and the other one is 409', async (t) => {
  const rapport = await startRapport()
  t.after(() => rapport.close())
  const token = setupToken(rapport)
  const emails = ['ada@example.com', 'eve@example.com']
  const replies = await Promise.all(
    emails.map((email) => browser(rapport.url)('POST', '/setup', { ...first, token, email })),
  )
  assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 409])
  const signed = await Promise.all(
    emails.map(async (email) => (await signIn(rapport.url, email)).reply.status),
  )
  assert.deepEqual(signed.sort(), [200, 401])
})

test('guessing the link is slowed down', async (t) => {
  const clock = turnableClock()
  const rapport = await startRapport({ clock })
  t.after(() => rapport.close())
  const call = browser(rapport.url)
  for (const token of ['', null, 123, ['x']])
    assert.deepEqual(problems(await call('POST', '/setup', { ...first, token })), { token: 'not_valid' })
  for (let n = 4; n < 100; n++)
    assert.equal((await call('POST', '/setup', { ...first, token: `wrong${n}` })).status, 422)
  refused(await call('POST', '/setup', { ...first, token: setupToken(rapport) }), 429, 'rate_limited')
  clock.advance(30_000)
  await setUp(rapport)
})

test('each start and each command makes the link anew until there is an account, and then none', async (t) => {
  const DATA_DIR = scratchFolder(t)
  const before = await startRapport({ data_dir: DATA_DIR })
  const old = setupToken(before)
  await before.close()
  const server = await startRapport({ data_dir: DATA_DIR })
  const tokens = [old, setupToken(server)]
  assert.notEqual(tokens[0], tokens[1])
  const made = await runRapport(['setup-link'], { DATA_DIR, PORT: '3210', HOST: '0.0.0.0' })
  assert.match(made.last, /^http:\/\/127\.0\.0\.1:3210\/setup#[\w-]{43}$/)
  for (const token of tokens)
    assert.equal((await browser(server.url)('POST', '/setup', { ...first, token })).status, 422)
  await setUp({ url: server.url, setup_url: made.last })

  const none = await runRapport(['setup-link'], { DATA_DIR })
  assert.deepEqual([none.code, none.stdout], [1, ''])
  assert.match(none.stderr, /Somebody has an account already/)
  await server.close()
  const after = await startRapport({ data_dir: DATA_DIR })
  assert.equal(after.setup_url, null)
  await after.close()
  const listed = await runRapport(['people', 'list'], { DATA_DIR })
  assert.match(listed.stdout, /^ID +CREATED +E-MAIL +NAME\nusr_\w+ +\S+ +ada@example\.com +Ada Lovelace$/)
})

test('with PUBLIC_URL the links of a start, of the command line and of invitations begin with it', async (t) => {
  const DATA_DIR = scratchFolder(t)
  const PUBLIC_URL = 'https://crm.example.com/'
  const server = await startRapport({ data_dir: DATA_DIR, env: { PUBLIC_URL } })
  t.after(() => server.close())
  assert.match(String(server.setup_url), /^https:\/\/crm\.example\.com\/setup#[\w-]{43}$/)
  const made = await runRapport(['setup-link'], { DATA_DIR, PUBLIC_URL })
  assert.match(made.last, /^https:\/\/crm\.example\.com\/setup#[\w-]{43}$/)
  const invited = await server.call('POST', '/api/v1/invitations', {
    email: 'grace@example.com',
    role: 'member',
  })
  assert.match(invited.body.data.url, /^https:\/\/crm\.example\.com\/invitation#[\w-]{43}$/)
  assert.ok(invited.body.data.url.endsWith(invited.body.data.url_path))
})

test('of several processes one shows the link, and all of them take it', async (t) => {
  const DATA_DIR = scratchFolder(t)
  const service = await serveProcess(t, { DATA_DIR, WEB_CONCURRENCY: '2', LOG_LEVEL: 'silent' })
  t.after(() => service.stop())
  const shown = service.output()
  const links = [...shown.matchAll(/\/setup#([\w-]{43})/g)]
  assert.equal(links.length, 1, shown)
  const call = await setUp({ url: service.url, setup_url: `#${links[0]?.[1]}` })
  for (let n = 0; n < 6; n++)
    assert.equal((await call('GET', '/session', undefined, { connection: 'close' })).status, 200)
  // The other processes refuse it, too.
  await call('DELETE', '/session')
  await new Promise((resolve) => setTimeout(resolve, 600))
  const guesses = await Promise.all(
    Array.from({ length: 12 }, () =>
      browser(service.url, { connection: 'close' })('POST', '/session', {
        email: first.email,
        password: 'wrong',
      }),
    ),
  )
  assert.equal(guesses.filter(({ status }) => status === 401).length, 5)
})

test('a link of the command line sets a new password once, within a day, and ends all sessions', async (t) => {
  const DATA_DIR = scratchFolder(t)
  const clock = turnableClock(Date.now())
  const rapport = await startRapport({ clock, data_dir: DATA_DIR })
  t.after(() => rapport.close())
  const ada = await setUp(rapport)
  const unknown = await runRapport(['people', 'reset-password', 'eve@example.com'], { DATA_DIR })
  assert.equal(unknown.code, 1)
  assert.match(unknown.stderr, /Nobody has the e-mail eve@example\.com/)

  const linked = async () => {
    const { code, last } = await runRapport(['people', 'reset-password', 'ADA@example.com'], { DATA_DIR })
    assert.equal(code, 0)
    const [, token = ''] = /^http:\S+\/reset#([\w-]{43})$/.exec(last) ?? []
    return token
  }
  const reset = (token: string, given = 'another password') =>
    browser(rapport.url)('POST', '/password-reset', { token, password: given })

  // So often wrong that the right one has to wait, too.
  for (let n = 0; n < 5; n++) await signIn(rapport.url, first.email, 'wrong password')
  refused((await signIn(rapport.url, first.email)).reply, 429, 'rate_limited')
  const older = await linked()
  const token = await linked()
  assert.deepEqual(problems(await reset(older)), { token: 'not_valid' })
  assert.deepEqual(problems(await reset(token, 'short')), { password: 'too_short' })
  assert.equal((await ada('GET', '/session')).status, 200)
  const replies = await Promise.all([reset(token), reset(token)])
  assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 422])
  await new Promise((resolve) => setTimeout(resolve, 600))
  refused(await ada('GET', '/session'), 401, 'unauthorized')
  refused((await signIn(rapport.url, first.email)).reply, 401, 'unauthorized')
  assert.equal((await signIn(rapport.url, first.email, 'another password')).reply.status, 200)

  const late = await linked()
  clock.advance(24 * 3600 * 1000 + 60_000)
  assert.deepEqual(problems(await reset(late)), { token: 'not_valid' })
})

test('a workspace of the command line gets its owner by a link of the command line', async (t) => {
  const DATA_DIR = scratchFolder(t)
  const rapport = await startRapport({ data_dir: DATA_DIR })
  t.after(() => rapport.close())
  await setUp(rapport)
  const run = (...args: string[]) => runRapport(args, { DATA_DIR, PORT: '3210', HOST: '0.0.0.0' })
  const id = (await run('workspaces', 'create', '--name', 'Second')).last
  const invited = async (...more: string[]) => {
    const { code, last, stderr } = await run('people', 'invite', ...more)
    assert.equal(code, 0, stderr)
    return String(/^http:\/\/127\.0\.0\.1:3210\/invitation#([\w-]{43})$/.exec(last)?.[1])
  }
  const older = await invited('grace@example.com', '--workspace', id)
  const token = await invited(' Grace@example.com', '--workspace', id)
  const accept = (token: string) =>
    browser(rapport.url)('POST', '/invitations/accept', { token, name: 'Grace Hopper', password })
  assert.deepEqual(problems(await accept(older)), { token: 'not_valid' })
  const { body } = await accept(token)
  assert.deepEqual([body.data.role, body.data.workspace.name], ['owner', 'Second'])
  const reader = await accept(await invited('eve@example.com', '--workspace', '1', '--role', 'read_only'))
  assert.deepEqual([reader.body.data.role, reader.body.data.workspace.id], ['read_only', 1])

  const [entry] = (await rapport.call('GET', '/api/v1/audit-log?kind=invitations&action=created')).body.data
  assert.deepEqual(
    [entry.actor.kind, entry.after],
    ['command_line', { email: 'eve@example.com', role: 'read_only' }],
  )
  const wrong: [string[], RegExp][] = [
    [['GRACE@example.com', '--workspace', id], /email belongs to a member/],
    [['new@example.com', '--workspace', '77'], /There is no workspace 77/],
    [['new@example.com'], /several workspaces/],
    [['new@example.com', '--workspace', id, '--role', 'king'], /There is no role "king".*owner, admin/],
    [['new', '--workspace', id], /"new" is not an e-mail address/],
  ]
  for (const [args, told] of wrong) {
    const { code, stdout, stderr } = await run('people', 'invite', ...args)
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, told)
  }
})
