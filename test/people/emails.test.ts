import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeResetToken } from '../../src/access/people/resets.ts'
import { systemClock } from '../../src/clock.ts'
import { command_line } from '../../src/events/context.ts'
import { readStored } from '../database.ts'
import { problems, refused } from '../envelope.ts'
import { useRapport } from '../harness.ts'
import { beside } from '../keys.ts'
import { type Browser, browser, invite, join, password, useOwner } from '../people.ts'

const rapport = useRapport({ env: { TRUSTED_PROXIES: '127.0.0.0/8' } })
const ada = useOwner(rapport)

let addresses = 0
/** An unknown browser with its own address. */
const stranger = () => browser(rapport.url, { 'x-forwarded-for': `192.0.2.${++addresses}` })
const names = (reply: { body: { data: { workspaces: { name: string }[] } } }) =>
  reply.body.data.workspaces.map(({ name }) => name)

/** An admin of somebody's workspace with a workspace of their own, as anybody may have who was invited once. */
async function outsider(name: string): Promise<Browser> {
  const { call } = await join(ada, rapport.url, 'admin')
  assert.equal((await call('POST', '/workspaces', { name })).status, 201)
  return call
}
const accept = (token: string, body: object) =>
  stranger()('POST', '/invitations/accept', { token, name: 'Somebody', ...body })
const enter = (email: string, given: string) => stranger()('POST', '/session', { email, password: given })

describe('an account belongs to the holder of the invitation', () => {
  test('the real person joins with a password of their own, although somebody has taken the e-mail', async () => {
    const mallory = await outsider('Mallory’s')
    const email = 'victim@example.com'
    const taking = await accept(await invite(mallory, 'owner', email), { password: 'only mallory knows' })
    assert.equal(taking.status, 200, taking.text)

    const token = await invite(ada, 'member', email)
    const seen = await stranger()('POST', '/invitations/look-up', { token })
    assert.equal(seen.body.data.has_account, true)
    assert.deepEqual(problems(await accept(token, { password })), { password: 'wrong' })
    const short = await accept(token, { password: 'short', new_account: true })
    assert.deepEqual(problems(short), { password: 'too_short' })
    const accepted = await accept(token, { password, new_account: true })
    assert.equal(accepted.status, 200, accepted.text)
    assert.deepEqual(names(accepted), ['Acme'])
    assert.notEqual(accepted.body.data.user.id, taking.body.data.user.id)

    // Each password leads to its own account, and to nothing of the other one.
    assert.deepEqual(names(await enter(email, password)), ['Acme'])
    assert.deepEqual(names(await enter(email.toUpperCase(), 'only mallory knows')), ['Mallory’s'])
    refused(await enter(email, 'somebody else’s'), 401, 'unauthorized')
  })

  test('an account that is there already stays what it is, when somebody else invites its e-mail', async () => {
    const { call, email, id } = await join(ada, rapport.url, 'member')
    const mallory = await outsider('Trap')
    const taken = await accept(await invite(mallory, 'member', email), {
      password: 'only mallory knows',
      new_account: true,
    })
    assert.equal(taken.status, 200, taken.text)
    assert.notEqual(taken.body.data.user.id, id)
    assert.equal((await call('GET', '/session')).body.data.user.id, id)
    assert.equal((await enter(email, password)).body.data.user.id, id)
    // A person who knows the password can still join with it.
    const second = await outsider('Second')
    const joined = await accept(await invite(second, 'member', email), { name: undefined, password })
    assert.deepEqual([joined.body.data.user.id, names(joined)], [id, ['Acme', 'Second']])
  })

  test('two workspaces invite one e-mail at once: both are accepted, each with an account of its own', async () => {
    const email = 'both@example.com'
    const other = await outsider('Other')
    const tokens = [await invite(ada, 'member', email), await invite(other, 'member', email)]
    const replies = await Promise.all(
      tokens.map((token, n) => accept(token, { password: `the password of ${n}`, new_account: true })),
    )
    assert.deepEqual(
      replies.map((reply) => [reply.status, names(reply)]),
      [
        [200, ['Acme']],
        [200, ['Other']],
      ],
    )
    for (const [n, reply] of replies.entries())
      assert.equal((await enter(email, `the password of ${n}`)).body.data.user.id, reply.body.data.user.id)
  })

  test('a known browser of one account tries the other account of the e-mail, too', async () => {
    const { email, id } = await join(ada, rapport.url, 'member')
    const other = await outsider('Elsewhere')
    const call = stranger()
    assert.equal((await call('POST', '/session', { email, password })).status, 200)
    const mine = { token: await invite(other, 'member', email), name: 'Me', new_account: true }
    const second = await stranger()('POST', '/invitations/accept', { ...mine, password: 'my other password' })
    assert.equal(second.status, 200)
    for (let n = 0; n < 2; n++)
      for (const [given, user] of [
        ['my other password', second.body.data.user.id],
        [password, id],
      ])
        assert.equal((await call('POST', '/session', { email, password: given })).body.data.user.id, user)
    refused(await call('POST', '/session', { email, password: 'neither of them' }), 401, 'unauthorized')
  })

  test('all accounts of an e-mail have one salt, so that a sign-in costs one hash, however many there are', async () => {
    const email = 'crowd@example.com'
    const token = await invite(ada, 'member', email)
    assert.equal((await accept(token, { password })).status, 200)
    for (let n = 0; n < 5; n++) {
      const by = await outsider(`Crowd ${n}`)
      const made = { password: `password of ${n} in the crowd`, new_account: true }
      assert.equal((await accept(await invite(by, 'member', email), made)).status, 200)
    }
    // An account that moves there takes the salt, and so does a new password.
    const { call, email: mine } = await join(ada, rapport.url, 'member')
    await ada('DELETE', `/members/${(await enter(email, password)).body.data.user.id}`)
    const move = await call('PUT', '/profile', { email, current_password: password })
    assert.equal(move.status, 200, move.text)
    const change = { current_password: password, new_password: 'another good password' }
    assert.equal((await call('POST', '/profile/password', change)).status, 200)
    assert.deepEqual(names(await enter(email, change.new_password)), ['Acme'])
    refused(await enter(mine, change.new_password), 401, 'unauthorized')

    const stored = await readStored(rapport.data_dir)
    const rows = await stored.rows('SELECT password_hash FROM users WHERE email_key = ?', email)
    const all = await stored.rows('SELECT password_hash FROM users')
    await stored.close()
    const salts = (some: typeof rows) => new Set(some.map((row) => String(row.password_hash).split('$')[4]))
    assert.deepEqual([rows.length, salts(rows).size], [7, 1])
    assert.ok(salts(all).size > 5)
  })

  test('of several accounts with one password, signing in goes to the one that was used last', async () => {
    const { email, id } = await join(ada, rapport.url, 'member')
    const other = await outsider('Same')
    const made = await accept(await invite(other, 'member', email), { password, new_account: true })
    assert.equal(made.status, 200)
    assert.equal((await enter(email, password)).body.data.user.id, made.body.data.user.id)
    assert.notEqual(made.body.data.user.id, id)
  })

  test('a link for a new password names one account, by its id where several have the e-mail', async () => {
    const { email, id } = await join(ada, rapport.url, 'member')
    const other = await outsider('Linked')
    const made = { password: 'only mallory knows', new_account: true }
    assert.equal((await accept(await invite(other, 'member', email), made)).status, 200)
    const link = (who: string) =>
      beside(rapport.data_dir, (db) => makeResetToken(db, systemClock, command_line, who))
    await assert.rejects(
      link(email),
      new RegExp(`Several accounts.*${id} \\(Grace Hopper, in Acme\\); usr_.*in Linked`),
    )
    const token = await link(id)
    const reset = await stranger()('POST', '/password-reset', { token, password: 'a new password' })
    assert.equal(reset.body.data.user.id, id)
    assert.equal((await enter(email, 'only mallory knows')).status, 200)
  })
})

describe('one spelling of an e-mail', () => {
  const composed = 'j\u00fcrgen@example.com'
  const decomposed = 'ju\u0308rgen@example.com'

  test('an e-mail in NFC and NFD, in capitals or not, is one address', async () => {
    assert.notEqual(composed, decomposed)
    const token = await invite(ada, 'member', decomposed)
    assert.equal((await accept(token, { password })).status, 200)
    for (const email of [composed, decomposed, composed.toUpperCase(), ` ${decomposed} `])
      assert.equal((await enter(email, password)).status, 200, email)
    const again = await ada('POST', '/invitations', { email: composed, role: 'member' })
    assert.deepEqual(problems(again), { email: 'taken' })
    // Their wrong passwords are those of one e-mail, too.
    const call = stranger()
    const statuses: number[] = []
    for (const email of [composed, decomposed, composed, decomposed, composed, decomposed])
      statuses.push((await call('POST', '/session', { email, password: 'wrong password' })).status)
    assert.deepEqual(statuses, [401, 401, 401, 401, 401, 429])
  })

  test('an invitation ends when the same address is invited in another spelling', async () => {
    const first = await invite(ada, 'member', 'zo\u00eb@example.com')
    const second = await invite(ada, 'member', 'ZOE\u0308@example.com')
    assert.deepEqual(problems(await accept(first, { password })), { token: 'not_valid' })
    assert.equal((await accept(second, { password })).status, 200)
  })
})

describe('another e-mail', () => {
  test('is refused when another member of a workspace has it, and free when somebody elsewhere has', async () => {
    const { call, email } = await join(ada, rapport.url, 'member')
    const mate = await join(ada, rapport.url, 'member')
    const to = (wanted: string) => call('PUT', '/profile', { email: wanted, current_password: password })
    assert.deepEqual(problems(await to(mate.email.toUpperCase())), { email: 'taken' })
    const elsewhere = await outsider('Far')
    const far = await accept(await invite(elsewhere, 'member', 'far@example.com'), {
      password: 'far away from here',
    })
    assert.equal(far.status, 200)
    assert.equal((await to('far@example.com')).status, 200)
    assert.deepEqual(names(await enter('far@example.com', password)), ['Acme'])
    assert.deepEqual(names(await enter('far@example.com', 'far away from here')), ['Far'])
    refused(await enter(email, password), 401, 'unauthorized')
  })

  test('of two members who take one e-mail at once, one gets it', async () => {
    const two = [await join(ada, rapport.url, 'member'), await join(ada, rapport.url, 'member')]
    const replies = await Promise.all(
      two.map(({ call }) =>
        call('PUT', '/profile', { email: 'wanted@example.com', current_password: password }),
      ),
    )
    assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 422])
  })
})
