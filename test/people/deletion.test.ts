import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { removeExpiredAccess } from '../../src/access/people/cleaning.ts'
import { closeAccount, lockAccount } from '../../src/access/people/deletion.ts'
import { isoTime } from '../../src/clock.ts'
import { transaction } from '../../src/db/db.ts'
import { command_line } from '../../src/events/context.ts'
import { readStored } from '../database.ts'
import { problems, refused } from '../envelope.ts'
import { turnableClock, useRapport, withRealHashes } from '../harness.ts'
import { beside, makeKey } from '../keys.ts'
import { type Browser, browser, invite, join, password, setUp, signIn } from '../people.ts'
import { runRapport } from '../run-rapport.ts'
import { before } from '../use.ts'

const clock = turnableClock()
const day_ms = 24 * 3600 * 1000
const rapport = useRapport({ clock, env: { TRUSTED_PROXIES: '127.0.0.0/8' } })
let ada: Browser
before(async () => {
  ada = await setUp(rapport)
})

const run = (...words: string[]) => runRapport(words, { DATA_DIR: rapport.data_dir })
const remove = (call: Browser, current_password = password) =>
  call('POST', '/profile/delete', { current_password })
const settle = () => new Promise((resolve) => setTimeout(resolve, 600))

/** Every row with data of people, as one text. */
async function told(): Promise<string> {
  const stored = await readStored(rapport.data_dir)
  const tables = ['users', 'memberships', 'sessions', 'invitations', 'audit_log', 'sign_in_failures']
  const rows: unknown[] = []
  for (const table of tables) rows.push(await stored.rows(`SELECT * FROM ${table}`))
  await stored.close()
  return JSON.stringify(rows)
}

let secrets = 0
/** A member of several workspaces with a unique name, e-mail and address. */
async function known() {
  const mark = `marked${++secrets}`
  const email = `${mark}@example.com`
  const address = `203.0.113.${secrets}`
  const call = browser(rapport.url, { 'x-forwarded-for': address, 'user-agent': `Browser ${mark}` })
  const enter = async (token: string) => {
    const reply = await call('POST', '/invitations/accept', { token, name: mark, password })
    assert.equal(reply.status, 200, reply.text)
    return String(reply.body.data.user.id)
  }
  const id = await enter(await invite(ada, 'member', email))
  const { call: other } = await join(ada, rapport.url, 'admin')
  assert.equal((await other('POST', '/workspaces', { name: `Workspace ${secrets}` })).status, 201)
  await enter(await invite(other, 'admin', email))
  assert.equal((await call('PUT', '/profile', { name: `${mark} the second` })).status, 200)
  await invite(call, 'member', `friend-of-${id}@example.com`)
  return { call, other, mark, address, id, email }
}

describe('a person deletes the own account', () => {
  test('and nothing that is stored tells of them, but what was done, by an id', async () => {
    const { call, mark, address, id, email } = await known()
    const { body } = await call('POST', '/companies', { name: 'Stays' })
    assert.ok((await told()).includes(mark) && (await told()).includes(address))
    assert.deepEqual(problems(await remove(call, 'wrong password')), { current_password: 'wrong' })
    const done = await remove(call)
    assert.equal(done.status, 200, done.text)
    assert.match(String(done.headers.getSetCookie()[0]), /^rapport_session=; Max-Age=0/)

    const left = await told()
    for (const text of [mark, address]) assert.ok(!left.includes(text), text)
    assert.ok(left.includes(id))
    await settle()
    refused(await call('GET', '/session'), 401, 'unauthorized')
    refused((await signIn(rapport.url, email)).reply, 401, 'unauthorized')
    refused(await ada('GET', `/members/${id}`), 404, 'not_found')
    const { data } = (await ada('GET', `/audit-log?kind=members&record_id=${id}`)).body
    assert.deepEqual(
      data.map((entry: Record<string, unknown>) => [entry.action, entry.before, entry.after]),
      [
        ['deleted', { role: 'member' }, null],
        ['created', null, { role: 'member' }],
      ],
    )
    assert.ok(data.every(({ actor }: { actor: object }) => JSON.stringify(actor).includes('"name":null')))
    assert.ok(body.data.id)
  })

  test('and revoked or expired invitations to them no longer name them, in any workspace', async () => {
    const { call, mark, email } = await known()
    const { call: host } = await join(ada, rapport.url, 'admin')
    assert.equal((await host('POST', '/workspaces', { name: 'Never joined' })).status, 201)
    await invite(host, 'member', email.toUpperCase())
    // In place of the one before, which this revokes.
    await invite(host, 'admin', email)
    clock.advance(7 * day_ms)
    await invite(host, 'member', `other-${email}`)
    assert.equal((await remove(call)).status, 200)
    const left = await told()
    const of_others = left.replaceAll(`other-${email}`, '')
    assert.ok(!of_others.toLowerCase().includes(mark), 'the e-mail of a revoked or an expired invitation')
    assert.notEqual(of_others, left)
    const { data } = (await host('GET', '/audit-log?kind=invitations')).body
    assert.deepEqual(
      data.map(({ action, before, after }: Record<string, unknown>) => [action, before, after]),
      [
        ['created', null, { email: `other-${email}`, role: 'member' }],
        ['created', null, { role: 'admin' }],
        ['revoked', { role: 'member' }, null],
        ['created', null, { role: 'member' }],
      ],
    )
  })

  test('and an open invitation stays; so does what is kept for another account with the e-mail', async () => {
    const { call, email } = await known()
    const { call: host } = await join(ada, rapport.url, 'admin')
    assert.equal((await host('POST', '/workspaces', { name: 'Open' })).status, 201)
    const token = await invite(host, 'member', email)
    const { call: second } = await join(ada, rapport.url, 'admin')
    assert.equal((await second('POST', '/workspaces', { name: 'Second' })).status, 201)
    const own = { token: await invite(second, 'member', email), name: 'Second', password, new_account: true }
    const taker = browser(rapport.url)
    assert.equal((await taker('POST', '/invitations/accept', own)).status, 200)
    const { call: third } = await join(ada, rapport.url, 'admin')
    assert.equal((await third('POST', '/workspaces', { name: 'Revoked' })).status, 201)
    await invite(third, 'member', email)
    await invite(third, 'admin', email)
    const revoked = async () => (await third('GET', '/audit-log?kind=invitations&action=revoked')).body.data
    assert.equal((await remove(call)).status, 200)
    assert.equal((await host('GET', '/invitations')).body.data[0].email, email)
    assert.equal((await revoked())[0].before.email, email)
    assert.equal((await remove(taker)).status, 200)
    assert.deepEqual((await revoked())[0].before, { role: 'member' })
    assert.equal((await host('GET', '/audit-log?kind=invitations')).body.data[0].after.email, email)
    const taking = { token, name: 'Again', password }
    assert.equal((await browser(rapport.url)('POST', '/invitations/accept', taking)).status, 200)
  })

  test('what they have offered ends, what they have made stays, and they may come back as somebody new', async () => {
    const { call, other, id, email } = await known()
    const company = (await call('POST', '/companies', { name: 'Stays' })).body.data.id
    const offered = await invite(call, 'member', 'offered@example.com')
    assert.equal((await remove(call)).status, 200)
    const taking = { token: offered, name: 'Late', password }
    assert.deepEqual(problems(await browser(rapport.url)('POST', '/invitations/accept', taking)), {
      token: 'not_valid',
    })
    assert.equal((await other('GET', `/companies/${company}`)).body.data.name, 'Stays')
    const again = await join(ada, rapport.url, 'member', email)
    assert.notEqual(again.id, id)
  })

  test('the only owner of a workspace must make another member an owner first', async () => {
    const { call } = await join(ada, rapport.url, 'admin')
    assert.equal((await call('POST', '/workspaces', { name: 'Alone here' })).status, 201)
    const { message } = refused(await remove(call), 409, 'conflict')
    assert.equal(message, 'You are the only owner of Alone here. Make somebody else an owner first.')
    assert.equal((await call('GET', '/session')).status, 200)
    await join(call, rapport.url, 'owner')
    assert.equal((await remove(call)).status, 200)
  })

  test('of two owners who delete their accounts at once, one stays', async () => {
    const { call } = await join(ada, rapport.url, 'admin')
    assert.equal((await call('POST', '/workspaces', { name: 'Two owners' })).status, 201)
    const { call: mate } = await join(call, rapport.url, 'owner')
    const replies = await Promise.all([remove(call), remove(mate)])
    assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 409])
  })

  test('a refused deletion forgets nothing: the session ends while the password is checked', () =>
    withRealHashes(async () => {
      const { call, other, address, email } = await known()
      const { session_id } = (await call('GET', '/session')).body.data
      // Own passwords are checked one after the other: these take their time before it.
      const before = Array.from({ length: 4 }, (_, n) => remove(other, `guess ${n}`))
      const removing = remove(call)
      await beside(rapport.data_dir, async (db) => {
        const tries = db
          .selectFrom('sign_in_failures')
          .select('name')
          .where('name', '=', `own session ${session_id}`)
        while (!(await tries.executeTakeFirst())) await new Promise(setImmediate)
        await transaction(db, (tx) => tx.deleteFrom('sessions').where('id', '=', session_id).execute())
      })
      refused(await removing, 401, 'unauthorized')
      await Promise.all(before)
      const left = await told()
      assert.ok(left.includes(`"address\\":\\"${address}`), 'the address of the sign-in')
      assert.equal((await signIn(rapport.url, email)).reply.status, 200)
    }))

  test('what a crash leaves names nobody but in the log, and cleaning finishes it', async () => {
    const { call, mark, id, email } = await known()
    const context = {
      actor: command_line,
      request_id: null,
      now: isoTime(clock.now()),
      now_ms: clock.now(),
      elapsed: clock.elapsed,
    }
    await beside(rapport.data_dir, (db) =>
      transaction(db, async (tx) => {
        await lockAccount(tx, id)
        await closeAccount(tx, context, id)
      }),
    )
    await settle()
    refused(await call('GET', '/session'), 401, 'unauthorized')
    refused((await signIn(rapport.url, email)).reply, 401, 'unauthorized')
    for (const text of ['', ' ', 'closed', 'CLOSED']) {
      const { status } = (await signIn(rapport.url, text)).reply
      assert.ok(status === 401 || status === 422, `${text}: ${status}`)
    }
    assert.ok((await told()).includes(mark))
    await beside(rapport.data_dir, (db) => removeExpiredAccess(db, clock))
    assert.ok(!(await told()).includes(mark))
    const stored = await readStored(rapport.data_dir)
    assert.deepEqual(await stored.rows("SELECT id FROM users WHERE email_key LIKE 'CLOSED%'"), [])
    await stored.close()
  })

  test('no key does it, nor a session that has ended, nor a guess', async () => {
    const { token } = await makeKey(rapport)
    const key = { authorization: `Bearer ${token}` }
    const by_key = await browser(rapport.url)('POST', '/profile/delete', { current_password: password }, key)
    refused(by_key, 403, 'forbidden')
    const { call, email } = await join(ada, rapport.url, 'member')
    const { call: second, reply } = await signIn(rapport.url, email)
    assert.equal((await second('GET', '/session')).status, 200)
    assert.equal((await call('DELETE', `/sessions/${reply.body.data.session_id}`)).status, 200)
    refused(await remove(second), 401, 'unauthorized')
    for (let n = 0; n < 5; n++)
      assert.deepEqual(problems(await remove(call, `guess ${n}`)), { current_password: 'wrong' })
    refused(await remove(call), 429, 'rate_limited')
    assert.deepEqual(problems(await call('POST', '/profile/delete', {})), { current_password: 'required' })
  })
})

describe('rapport people delete', () => {
  test('deletes an account by its e-mail, and what is stored of the person', async () => {
    const { call, mark, address, email } = await known()
    const { code, stdout, stderr } = await run('people', 'delete', email.toUpperCase())
    assert.deepEqual([code, stdout], [0, `Deleted the account of ${email}.`], stderr)
    const left = await told()
    for (const text of [mark, address]) assert.ok(!left.includes(text), text)
    await settle()
    refused(await call('GET', '/session'), 401, 'unauthorized')
    assert.match((await run('people', 'delete', email)).stderr, /Nobody has the e-mail/)
  })

  test('takes an id where several accounts have the e-mail', async () => {
    const { email, id } = await join(ada, rapport.url, 'member')
    const { call: other } = await join(ada, rapport.url, 'admin')
    assert.equal((await other('POST', '/workspaces', { name: 'Other' })).status, 201)
    const token = await invite(other, 'member', email)
    const own = { token, name: 'Second', password: 'a second password', new_account: true }
    assert.equal((await browser(rapport.url)('POST', '/invitations/accept', own)).status, 200)
    assert.match((await run('people', 'delete', email)).stderr, new RegExp(`Several accounts.*${id}`))
    assert.equal((await run('people', 'delete', id)).code, 0)
    refused((await signIn(rapport.url, email)).reply, 401, 'unauthorized')
    assert.equal((await signIn(rapport.url, email, 'a second password')).reply.status, 200)
  })

  test('leaves a workspace without an owner only if the request says so', async () => {
    const { call, email } = await join(ada, rapport.url, 'admin')
    assert.equal((await call('POST', '/workspaces', { name: 'Lonely' })).status, 201)
    const refusal = await run('people', 'delete', email)
    assert.equal(refusal.code, 1)
    assert.match(refusal.stderr, /only owner of Lonely.*people invite.*--ownerless yes/)
    assert.equal((await run('people', 'delete', '--ownerless', 'maybe', email)).code, 2)
    const done = await run('people', 'delete', '--ownerless', 'yes', email)
    assert.match(done.stdout, /Deleted the account.*\nNo owner is left of Lonely\.$/)
  })
})

describe('an account without a workspace', () => {
  const clean = () => beside(rapport.data_dir, (db) => removeExpiredAccess(db, clock))

  test('is deleted after 30 days, with what is stored of the person', async () => {
    const { other, mark, id, email } = await known()
    for (const call of [ada, other]) assert.equal((await call('DELETE', `/members/${id}`)).status, 200)
    refused((await signIn(rapport.url, email)).reply, 403, 'forbidden')
    clock.advance(30 * day_ms - 1)
    await clean()
    assert.ok((await told()).includes(mark))
    clock.advance(1)
    await clean()
    const left = await told()
    assert.ok(!left.includes(mark), mark)
    ada = (await signIn(rapport.url, 'ada@example.com')).call
  })

  test('stays when its person is invited again before, or is in another workspace', async () => {
    const back = await join(ada, rapport.url, 'member')
    const elsewhere = await known()
    for (const { id } of [back, elsewhere]) assert.equal((await ada('DELETE', `/members/${id}`)).status, 200)
    const token = await invite(ada, 'member', back.email)
    const accepted = await browser(rapport.url)('POST', '/invitations/accept', { token, password })
    assert.equal(accepted.body.data.user.id, back.id)
    clock.advance(31 * day_ms)
    await clean()
    for (const { email } of [back, elsewhere])
      assert.equal((await signIn(rapport.url, email)).reply.status, 200)
  })
})
