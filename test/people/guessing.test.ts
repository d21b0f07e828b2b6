// runs: once
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { problems, refused } from '../envelope.ts'
import { type Reply, turnableClock, useRapport } from '../harness.ts'
import { browser, invite, join, password, signIn, useOwner } from '../people.ts'

const clock = turnableClock()
const day_ms = 24 * 3600 * 1000
const rapport = useRapport({ clock, env: { TRUSTED_PROXIES: '127.0.0.0/8' } })
const ada = useOwner(rapport)

/** A browser behind a proxy that forwards its address. */
const from = (address: string) => browser(rapport.url, { 'x-forwarded-for': address })
const email = 'ada@example.com'

describe('guessing', () => {
  const strange = (text: string) => text.replace(/"request_id":"[^"]*"/, '').replace(/in \d+ seconds/, '')
  const shown = ({ status, headers, text }: Reply) =>
    JSON.stringify([
      status,
      strange(text),
      [...headers].filter(([name]) => !/date|request-id|length/.test(name)),
    ])

  test('an unknown e-mail and a wrong password are answered alike, also when there were too many', async () => {
    const { email: known } = await join(ada, rapport.url, 'member')
    const answers = async (address: string, email: string) => {
      const call = from(address)
      const replies: string[] = []
      for (let n = 0; n < 7; n++)
        replies.push(shown(await call('POST', '/session', { email, password: 'wrong password' })))
      return replies
    }
    const of_known = await answers('192.0.2.1', known)
    assert.deepEqual(of_known, await answers('192.0.2.2', 'nobody@example.com'))
    assert.match(String(of_known[4]), /^\[401/)
    assert.match(String(of_known[5]), /^\[429/)
  })

  test('fifty guesses at once from one address are five; during its wait the right password waits there too', async () => {
    const { email: target } = await join(ada, rapport.url, 'member')
    const guesses = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        from('203.0.113.1')('POST', '/session', { email: target, password: `wrong password ${n}` }),
      ),
    )
    const count = (status: number) => guesses.filter((reply) => reply.status === status).length
    assert.deepEqual([count(401), count(429)], [5, 45])
    const call = from('203.0.113.1')
    const early = await call('POST', '/session', { email: target, password })
    refused(early, 429, 'rate_limited')
    clock.advance(Number(early.headers.get('retry-after')) * 1000)
    assert.equal((await call('POST', '/session', { email: target, password })).status, 200)
    // The failures are gone with it.
    for (let n = 0; n < 5; n++)
      refused(await call('POST', '/session', { email: target, password: 'wrong' }), 401, 'unauthorized')
  })

  test('an invitation of an account is one more way to guess its password, with the same five tries', async () => {
    const { email: target } = await join(ada, rapport.url, 'member')
    const { call: mallory } = await join(ada, rapport.url, 'admin')
    assert.equal((await mallory('POST', '/workspaces', { name: 'Trap' })).status, 201)
    const token = await invite(mallory, 'member', target)
    let looked_at = 0
    for (let n = 0; n < 12; n++) {
      const guess = { email: target, password: `wrong password ${n}` }
      const { status } = await from('203.0.113.99')('POST', '/session', guess)
      if (status === 401) looked_at++
      const broken = { token, password, nonsense: 1 }
      const reply = await from('203.0.113.99')('POST', '/invitations/accept', broken)
      assert.deepEqual(problems(reply), { nonsense: 'unknown_field' })
    }
    assert.equal(looked_at, 5)
    const accepting = await from('203.0.113.99')('POST', '/invitations/accept', { token, password })
    refused(accepting, 429, 'rate_limited')
    clock.advance(day_ms + 1)
  })

  test('a right password never counts as a wrong one, whatever else is wrong; asking for e-mails ends after ten', async () => {
    const { call, email: mine } = await join(ada, rapport.url, 'member')
    const elsewhere = await join(ada, rapport.url, 'admin')
    assert.equal((await elsewhere.call('POST', '/workspaces', { name: 'Elsewhere' })).status, 201)
    const token = await invite(elsewhere.call, 'member', mine)
    assert.equal((await browser(rapport.url)('POST', '/invitations/accept', { token, password })).status, 200)
    for (let n = 0; n < 6; n++) {
      const taken = { email, current_password: password }
      assert.deepEqual(problems(await call('PUT', '/profile', taken)), { email: 'taken' })
      const long = { current_password: password, new_password: 'x'.repeat(201) }
      assert.deepEqual(problems(await call('POST', '/profile/password', long)), { new_password: 'too_long' })
    }
    assert.equal((await signIn(rapport.url, mine)).reply.status, 200)
    // An answer that an e-mail is taken reveals that it has an account.
    const asked = async (name: string) =>
      (await call('PUT', '/profile', { email: `${name}-${mine}`, current_password: password })).status
    const answers: number[] = []
    for (const name of ['a', 'b', 'c', 'd', 'e']) answers.push(await asked(name))
    assert.deepEqual(answers, [200, 200, 200, 200, 429])
  })

  test('thirty people accept their invitations at once from one address', async () => {
    const tokens: string[] = []
    for (let n = 0; n < 30; n++) tokens.push(await invite(ada, 'member', `class${n}@example.com`))
    const replies = await Promise.all(
      tokens.map((token) =>
        from('203.0.113.50')('POST', '/invitations/accept', { token, name: 'Grace', password }),
      ),
    )
    assert.deepEqual(
      replies.filter(({ status }) => status !== 200).map(({ status }) => status),
      [],
    )
  })

  test('a missing token, or one that is not a text, gets the answer of an invalid one', async () => {
    const call = from('203.0.113.60')
    const rest = { name: 'Eve', password }
    for (const token of ['', null, 123, ['x'], { a: 1 }, undefined])
      for (const [path, body] of [
        ['/invitations/look-up', { token }],
        ['/invitations/accept', { token, ...rest }],
        ['/password-reset', { token, password }],
      ] as const)
        assert.deepEqual(problems(await call('POST', path, body)), { token: 'not_valid' }, path)
  })

  test('looking at an invitation that is over is no guess, however often', async () => {
    const token = await invite(ada, 'member', 'reloads@example.com')
    const call = from('203.0.113.70')
    assert.equal((await call('POST', '/invitations/accept', { token, name: 'Eve', password })).status, 200)
    for (let n = 0; n < 101; n++)
      assert.deepEqual(problems(await call('POST', '/invitations/look-up', { token })), {
        token: 'not_valid',
      })
    assert.equal((await call('POST', '/session', { email, password })).status, 200)
  })

  test('one address has a hundred guesses of links, whatever they are for', async () => {
    const call = from('203.0.113.7')
    const token = 'x'.repeat(43)
    const guesses = [
      () => call('POST', '/invitations/look-up', { token }),
      () => call('POST', '/invitations/accept', { token, name: 'Eve', password }),
      () => call('POST', '/password-reset', { token, password }),
    ]
    for (let n = 0; n < 100; n++)
      assert.deepEqual(problems((await guesses[n % 3]?.()) as Reply), { token: 'not_valid' })
    for (const guess of guesses) refused(await guess(), 429, 'rate_limited')
    // Also for a valid link, and for passwords. Other addresses do not wait.
    const right = await invite(ada, 'member', 'guest@example.com')
    refused(await call('POST', '/invitations/look-up', { token: right }), 429, 'rate_limited')
    refused(await call('POST', '/session', { email, password }), 429, 'rate_limited')
    const reply = await from('203.0.113.8')('POST', '/invitations/look-up', { token: right })
    assert.equal(reply.status, 200)
  })

  test('the own password cannot be guessed with a session that was left open', async () => {
    const { call } = await join(ada, rapport.url, 'member')
    const guess = () =>
      call('POST', '/profile/password', { current_password: 'wrong password', new_password: password })
    for (let n = 0; n < 5; n++) assert.deepEqual(problems(await guess()), { current_password: 'wrong' })
    refused(await guess(), 429, 'rate_limited')
    clock.advance(day_ms + 1)
  })
})
