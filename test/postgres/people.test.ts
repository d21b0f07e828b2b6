import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { makeResetToken } from '../../src/access/people/resets.ts'
import { command_line } from '../../src/events/context.ts'
import { settingsOf } from '../engine.ts'
import { refused } from '../envelope.ts'
import { client, type Rapport, type Reply, startRapport, turnableClock } from '../harness.ts'
import { beside } from '../keys.ts'
import { type Browser, browser, invite, join, password, setUp } from '../people.ts'
import { until } from '../webhooks.ts'

// Locks put concurrent writes of several connections into an order. Each test holds a row until all concurrent requests
// wait for their lock.

const clock = turnableClock()
let rapport: Rapport
let ada: Browser
let holder: pg.Client
// A transaction keeps its snapshot until its end.
let watcher: pg.Client
before(async () => {
  rapport = await startRapport({ clock, env: { TRUSTED_PROXIES: '127.0.0.0/8' } })
  ada = await setUp(rapport)
  const { DATABASE_URL } = await settingsOf(rapport.data_dir)
  holder = new pg.Client({ connectionString: DATABASE_URL })
  watcher = new pg.Client({ connectionString: DATABASE_URL })
  await Promise.all([holder.connect(), watcher.connect()])
})
after(async () => {
  await Promise.all([holder.end(), watcher.end()])
  await rapport.close()
})

type Held = 'sessions' | 'users' | 'workspaces'

/** Holds a row, and starts each request when the one before waits for a lock. Returns their answers. */
async function meeting(table: Held, id: string | number, requests: (() => Promise<Reply>)[]) {
  await holder.query('BEGIN')
  const replies: Promise<Reply>[] = []
  try {
    await holder.query(`SELECT 1 FROM ${table} WHERE id = $1 FOR NO KEY UPDATE`, [id])
    for (const request of requests) {
      replies.push(request())
      await until(
        async () => {
          const { rows } = await watcher.query(
            "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
          )
          return rows.length
        },
        (waiting) => waiting === replies.length,
      )
    }
  } finally {
    await holder.query('ROLLBACK')
  }
  return Promise.all(replies)
}

let names = 0
/** A person whose cookie a browser sends, so that a sign-in there conflicts with the owner of that session. */
async function planted() {
  const { call, session_id } = await join(ada, rapport.url, 'member')
  const thief = browser(rapport.url, { 'x-forwarded-for': `192.0.2.${++names}` })
  thief.plant(call.cookie())
  return { thief, session_id }
}
const fresh = 'another good password'

/** A person who is invited to a second workspace, with the link. */
async function invitedElsewhere() {
  const victim = await join(ada, rapport.url, 'member')
  const { call: other } = await join(ada, rapport.url, 'admin')
  assert.equal((await other('POST', '/workspaces', { name: 'Elsewhere' })).status, 201)
  return { ...victim, token: await invite(other, 'member', victim.email) }
}

for (const change of ['change', 'reset'] as const)
  for (const entering of ['sign-in', 'acceptance'] as const)
    test(`${entering === 'sign-in' ? 'a sign-in' : 'an acceptance'} with the old password that is on its way leaves no session after its ${change}`, async () => {
      const { call, email, token } = await invitedElsewhere()
      const { thief, session_id } = await planted()
      const [entered, changed] = await meeting('sessions', session_id, [
        () =>
          entering === 'sign-in'
            ? thief('POST', '/session', { email, password })
            : thief('POST', '/invitations/accept', { token, password }),
        async () => {
          if (change === 'change')
            return call('POST', '/profile/password', { current_password: password, new_password: fresh })
          const link = await beside(rapport.data_dir, (db) => makeResetToken(db, clock, command_line, email))
          return browser(rapport.url)('POST', '/password-reset', { token: link, password: fresh })
        },
      ])
      assert.deepEqual([entered?.status, changed?.status], [200, 200], changed?.text)
      refused(await thief('GET', '/session'), 401, 'unauthorized')
    })

for (const first of ['save', 'removal'] as const)
  test(`a private view whose ${first} comes first does not outlive the membership of its maker`, async () => {
    const { call, id } = await join(ada, rapport.url, 'member')
    const view = { list: 'contacts', name: 'Mine', query: '', visibility: 'private' }
    const save = () => call('POST', '/views', view)
    const remove = () => ada('DELETE', `/members/${id}`)
    const replies = await meeting('users', id, first === 'save' ? [save, remove] : [remove, save])
    const wanted = first === 'save' ? [201, 200] : [200, 403]
    assert.deepEqual(
      replies.map(({ status }) => status),
      wanted,
    )
    const { rows } = await watcher.query('SELECT 1 FROM saved_views WHERE created_by = $1', [id])
    assert.deepEqual(rows, [])
  })

for (const first of ['addition', 'removal'] as const)
  test(`a busy calendar whose ${first} comes first does not outlive the membership of its person`, async () => {
    const { call, id } = await join(ada, rapport.url, 'member')
    const add = () => call('POST', '/busy-calendars', { url: 'https://calendar.invalid/private.ics' })
    const remove = () => ada('DELETE', `/members/${id}`)
    const replies = await meeting('users', id, first === 'addition' ? [add, remove] : [remove, add])
    const wanted = first === 'addition' ? [201, 200] : [200, 403]
    assert.deepEqual(
      replies.map(({ status }) => status),
      wanted,
    )
    const { rows } = await watcher.query('SELECT 1 FROM busy_calendars WHERE user_id = $1', [id])
    assert.deepEqual(rows, [])
  })

test('a sign-in that meets with the removal of the member leaves nothing that lives again with a new invitation', async () => {
  const { email, id } = await join(ada, rapport.url, 'member')
  const { thief, session_id } = await planted()
  const [entered, removed] = await meeting('sessions', session_id, [
    () => thief('POST', '/session', { email, password }),
    () => ada('DELETE', `/members/${id}`),
  ])
  assert.deepEqual([entered?.status, removed?.status], [200, 200])
  const token = await invite(ada, 'member', email)
  assert.equal((await browser(rapport.url)('POST', '/invitations/accept', { token, password })).status, 200)
  refused(await thief('GET', '/session'), 401, 'unauthorized')
})

test('of two tabs that change the workspace at once, one does, and the other one is 401', async () => {
  const { call, id } = await join(ada, rapport.url, 'admin')
  assert.equal((await call('POST', '/workspaces', { name: 'Tabs' })).status, 201)
  const tabs = [browser(rapport.url), browser(rapport.url)]
  for (const tab of tabs) tab.plant(call.cookie())
  const replies = await meeting(
    'users',
    id,
    tabs.map((tab) => () => tab('PUT', '/session', { workspace_id: 1 })),
  )
  assert.deepEqual(
    replies.map(({ status }) => status),
    [200, 401],
  )
  assert.equal((await tabs[0]?.('GET', '/session'))?.body.data.workspace.id, 1)
})

test('an invitation that is accepted while its maker is demoted is logged as accepted only', async () => {
  const maker = await join(ada, rapport.url, 'admin')
  const reply = await maker.call('POST', '/invitations', { email: 'meets@example.com', role: 'admin' })
  const [, token] = reply.body.data.url_path.split('#')
  const { thief, session_id } = await planted()
  const [accepted, demoted] = await meeting('sessions', session_id, [
    () => thief('POST', '/invitations/accept', { token, name: 'Grace', password }),
    () => ada('PUT', `/members/${maker.id}`, { role: 'member' }),
  ])
  assert.deepEqual([accepted?.status, demoted?.status], [200, 200])
  const path = `/audit-log?kind=invitations&record_id=${reply.body.data.id}`
  assert.deepEqual(
    (await ada('GET', path)).body.data.map(({ action }: { action: string }) => action),
    ['accepted', 'created'],
  )
  const { rows } = await watcher.query('SELECT revoked_at FROM invitations WHERE id = $1', [
    reply.body.data.id,
  ])
  assert.deepEqual(rows, [{ revoked_at: null }])
})

test('a person who is invited again while they accept is one member, not two', async () => {
  const email = 'twice@example.com'
  const token = await invite(ada, 'member', email)
  const { thief, session_id } = await planted()
  const [accepted, invited] = await meeting('sessions', session_id, [
    () => thief('POST', '/invitations/accept', { token, name: 'Grace', password }),
    () => ada('POST', '/invitations', { email, role: 'member' }),
  ])
  assert.equal(accepted?.status, 200)
  refused(invited as Reply, 422, 'validation_failed')
  assert.equal((await ada('GET', '/invitations')).body.meta.total, 0)
})

test('a key that is made by one that is taken back at this moment ends with it, or is not made', async () => {
  for (const first of ['made', 'taken back'] as const) {
    const { id, token } = (await ada('POST', '/keys', { name: 'Lost' })).body.data
    const call = client(rapport.url, token)
    // Remembered now.
    assert.equal((await call('GET', '/api/v1/contacts')).status, 200)
    const steps = [
      () => call('POST', '/api/v1/keys', { name: 'Back door' }),
      () => ada('POST', `/keys/${id}/revoke`),
    ]
    const replies = await meeting('workspaces', 1, first === 'made' ? steps : steps.reverse())
    const [made, taken] = first === 'made' ? replies : replies.reverse()
    assert.equal(taken?.status, 200)
    if (first === 'taken back') refused(made as Reply, 401, 'unauthorized')
    else {
      assert.equal(made?.status, 201)
      refused(
        await client(rapport.url, made?.body.data.token)('GET', '/api/v1/contacts'),
        401,
        'unauthorized',
      )
    }
    assert.equal((await ada('GET', `/keys?made_by=${id}&live=true`)).body.meta.total, 0)
  }
})
