// runs: once
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { longest_wait_ms, max_pair_failures } from '../../src/access/people/throttle.ts'
import { refused } from '../envelope.ts'
import { turnableClock, useRapport, withRealHashes } from '../harness.ts'
import { type Browser, browser, invite, join, password, setUp, signIn } from '../people.ts'
import { before } from '../use.ts'

const clock = turnableClock()
const rapport = useRapport({ clock, env: { TRUSTED_PROXIES: '127.0.0.0/8' } })
let ada: Browser
before(async () => {
  ada = await setUp(rapport)
})

/** A browser behind a proxy that forwards its address. */
const from = (address: string) => browser(rapport.url, { 'x-forwarded-for': address })
let owners = 0
const new_address = () => `203.0.113.${++owners}`

/** Tries wrong passwords from each address until every one of them has to wait; returns how many were looked at. */
async function attack(addresses: string[], email: string): Promise<number> {
  const guesses = await Promise.all(
    addresses.map(async (address) => {
      for (let n = 0; ; n++) {
        const guess = { email, password: `wrong password ${n}` }
        const { status } = await from(address)('POST', '/session', guess)
        if (status === 429) return n
        assert.equal(status, 401)
      }
    }),
  )
  return guesses.reduce((sum, n) => sum + n)
}

describe('five wrong passwords by anybody lock nobody out', () => {
  for (const n of [1, 20])
    test(`an attacker tries at full speed from ${n === 1 ? 'one address' : `${n} addresses`} again and again; the owner signs in at once`, async () => {
      const { call, email } = await join(ada, rapport.url, 'member')
      await call('DELETE', '/session')
      const attackers = Array.from({ length: n }, (_, i) => `198.51.${n}.${i + 1}`)
      // Each hash takes its time: twenty addresses are tried for half an hour.
      const quarters = n === 1 ? 8 : 2
      let guesses = 0
      for (let quarter = 0; quarter < quarters; quarter++) {
        guesses += await attack(attackers, email)
        const known = await call('POST', '/session', { email, password }, { 'x-forwarded-for': '192.0.2.1' })
        assert.equal(known.status, 200, known.text)
        const fresh = await from(new_address())('POST', '/session', { email, password })
        assert.equal(fresh.status, 200, fresh.text)
        clock.advance(longest_wait_ms)
      }
      // The limits of docs/people.md: the free attempts of each address, then one attempt in 15 minutes for all
      // addresses together.
      assert.ok(guesses <= n * max_pair_failures + quarters, String(guesses))
      assert.ok(guesses >= n * 6, String(guesses))
    })

  test('a known browser gets in at once at the address of the attacker too', async () => {
    const { call, email } = await join(ada, rapport.url, 'member')
    const here = { 'x-forwarded-for': '198.51.100.9' }
    assert.equal(await attack(['198.51.100.9'], email), 5)
    assert.equal((await call('POST', '/session', { email, password }, here)).status, 200)
    refused(await from('198.51.100.9')('POST', '/session', { email, password }), 429, 'rate_limited')
  })

  test('nine own mistakes at a new browser cost at most eight minutes, while others attack', async () => {
    const { email } = await join(ada, rapport.url, 'member')
    const attackers = Array.from({ length: 5 }, (_, i) => `198.51.101.${i + 1}`)
    const call = from(new_address())
    const waits: number[] = []
    for (let n = 0; n < 9; n++) {
      await attack(attackers, email)
      for (;;) {
        const { status, headers } = await call('POST', '/session', { email, password: 'mistyped' })
        if (status === 401) break
        waits.push(Number(headers.get('retry-after')))
        clock.advance(Number(headers.get('retry-after')) * 1000)
      }
    }
    const late = await call('POST', '/session', { email, password })
    waits.push(Number(refused(late, 429, 'rate_limited') && late.headers.get('retry-after')))
    clock.advance(Number(late.headers.get('retry-after')) * 1000)
    assert.equal((await call('POST', '/session', { email, password })).status, 200)
    assert.deepEqual(waits, [30, 60, 120, 240, 480])
  })
})

describe('guesses by way of an own account with the e-mail of somebody else', () => {
  /** Somebody with a workspace of their own makes accounts with an e-mail, one after the other. */
  async function accountMaker(email: string) {
    const { call } = await join(ada, rapport.url, 'admin')
    assert.equal((await call('POST', '/workspaces', { name: 'Trap' })).status, 201)
    return async (password: string) => {
      const accepting = {
        token: await invite(call, 'member', email),
        name: 'Me',
        password,
        new_account: true,
      }
      const reply = await from(new_address())('POST', '/invitations/accept', accepting)
      assert.equal(reply.status, 200, reply.text)
      assert.equal((await call('DELETE', `/members/${reply.body.data.user.id}`)).status, 200)
      return call
    }
  }

  test('are counted although they are right, when signing in and when accepting, and end in 429', async () => {
    const { call: owner, email } = await join(ada, rapport.url, 'member')
    const makeAccount = await accountMaker(email)
    const address = new_address()
    const statuses: number[] = []
    for (let n = 0; n < 6; n++) {
      const guess = `the guess of number ${n}`
      const mallory = await makeAccount(guess)
      const token = await invite(mallory, 'member', email)
      const by_accepting = n % 2 && { token, password: guess }
      const reply = by_accepting
        ? await from(address)('POST', '/invitations/accept', by_accepting)
        : await from(address)('POST', '/session', { email, password: guess })
      // Known as their own, and in no workspace; the accepted ones are in Mallory's, and leave it again.
      statuses.push(reply.status)
      if (reply.status === 200) await mallory('DELETE', `/members/${reply.body.data.user.id}`)
    }
    assert.deepEqual(statuses, [403, 200, 403, 200, 403, 429])
    refused(await from(address)('POST', '/session', { email, password }), 429, 'rate_limited')

    // The owner gets in at once, as often as they like: by the known browser there, and at another address.
    const here = { 'x-forwarded-for': address }
    for (let n = 0; n < 7; n++)
      assert.equal((await owner('POST', '/session', { email, password }, here)).status, 200)
    const fresh = from(new_address())
    for (let n = 0; n < 7; n++)
      assert.equal((await fresh('POST', '/session', { email, password })).status, 200)
  })

  test('take no wrong guesses back', async () => {
    const { email } = await join(ada, rapport.url, 'member')
    await (await accountMaker(email))('a password of my own')
    const address = new_address()
    const statuses: number[] = []
    for (const given of [
      'wrong one',
      'wrong two',
      'a password of my own',
      'wrong three',
      'wrong four',
      'wrong',
    ])
      statuses.push((await from(address)('POST', '/session', { email, password: given })).status)
    assert.deepEqual(statuses, [401, 401, 403, 401, 401, 429])
  })
})

describe('the cookie by which a browser is known', () => {
  const cookieOf = (headers: Headers) =>
    String(headers.getSetCookie().find((text) => /^(__Host-)?rapport_browser=/.test(text)))

  test('is out of the reach of scripts and other sites, and lasts 400 days', async () => {
    const { reply } = await signIn(rapport.url, 'ada@example.com')
    const value = '[\\w-]+~[\\w-]{22}~[0-9a-z]+~[\\w-]{43}'
    const attributes = 'Max-Age=34560000; Path=\\/; HttpOnly; SameSite=Strict'
    assert.match(cookieOf(reply.headers), new RegExp(`^rapport_browser=${value}; ${attributes}$`))
    const call = browser(rapport.url, { 'x-forwarded-proto': 'https' })
    const { headers } = await call('POST', '/session', { email: 'ada@example.com', password })
    assert.match(cookieOf(headers), new RegExp(`^__Host-rapport_browser=${value}; ${attributes}; Secure$`))
  })

  /** How many wrong passwords a browser may try for an e-mail at an address that has none left. */
  async function extraTries(mark: string, email: string): Promise<number> {
    const address = new_address()
    await attack([address], email)
    const call = from(address)
    call.plantMark(mark)
    for (let n = 0; ; n++)
      if ((await call('POST', '/session', { email, password: 'wrong password' })).status === 429) return n
  }

  test('gives five tries of its own to anybody with a copy of it, signs nobody in, and counts nowhere else', async () => {
    const { call, email } = await join(ada, rapport.url, 'member')
    const thief = browser(rapport.url)
    thief.plantMark(call.mark())
    refused(await thief('GET', '/session'), 401, 'unauthorized')
    assert.equal(await extraTries(call.mark(), email), 5)
    // The owner's own browser, at its own address, still has the tries of every address.
    const here = { 'x-forwarded-for': new_address() }
    assert.equal((await call('POST', '/session', { email, password }, here)).status, 200)
  })

  test('is of one account: for another e-mail, changed, or made up it gives nothing', async () => {
    const one = await join(ada, rapport.url, 'member')
    const other = await join(ada, rapport.url, 'member')
    assert.equal(await extraTries(one.call.mark(), other.email), 0)
    const mark = one.call.mark()
    const parts = mark.split('~')
    const other_letter = mark.at(-2) === 'A' ? 'B' : 'A'
    const forged = [
      mark.slice(0, -2) + other_letter + mark.slice(-1),
      mark.replace(one.id, other.id),
      [parts[0], 'A'.repeat(22), parts[2], parts[3]].join('~'),
      [parts[0], parts[1], `${parts[2]}0`, parts[3]].join('~'),
      `rapport_browser=${'!'.repeat(5000)}`,
      'rapport_browser=',
    ]
    for (const text of forged) assert.equal(await extraTries(text, one.email), 0, text)
    assert.equal(await extraTries(mark, one.email), 5)
  })

  test('a browser is known to five accounts, the newest ones', async () => {
    const call = from(new_address())
    const emails: string[] = []
    for (let n = 0; n < 6; n++) {
      const { email } = await join(ada, rapport.url, 'member')
      emails.push(email)
      assert.equal((await call('POST', '/session', { email, password })).status, 200)
    }
    const [first = '', ...rest] = emails
    for (const email of rest) assert.equal(await extraTries(call.mark(), email), 5)
    assert.equal(await extraTries(call.mark(), first), 0)
  })

  test('ends when the password changes, but for the browser that changes it, and after 400 days', async () => {
    const { call, email } = await join(ada, rapport.url, 'member')
    const { call: elsewhere } = await signIn(rapport.url, email)
    const before = call.mark()
    const body = { current_password: password, new_password: 'battery staple horse' }
    assert.equal((await call('POST', '/profile/password', body)).status, 200)
    for (const mark of [before, elsewhere.mark()]) assert.equal(await extraTries(mark, email), 0)
    assert.notEqual(call.mark(), before)
    assert.equal(await extraTries(call.mark(), email), 5)
    clock.advance(400 * 24 * 3600 * 1000)
    assert.equal(await extraTries(call.mark(), email), 0)
    ada = (await signIn(rapport.url, 'ada@example.com')).call
  })
})

describe('a flood of sign-ins', () => {
  // More than can wait, each from the same few addresses and for another e-mail.
  const flood = () =>
    Array.from({ length: 300 }, (_, n) =>
      from(`198.51.102.${n % 5}`)('POST', '/session', { email: `nobody${n}@example.com`, password }),
    )

  test('is refused beyond a queue, and neither a known browser nor another address waits behind it', () =>
    withRealHashes(async () => {
      const { call, email } = await join(ada, rapport.url, 'member')
      let ended = 0
      // A refusal is immediate: only those that were hashed stood before others.
      const replies = flood().map(async (sent) => {
        const reply = await sent
        if (reply.status === 401) ended++
        return reply
      })
      // The queue is full when the first one is refused.
      const full = await Promise.race(
        replies.map(async (reply) => (await reply).status === 503 || new Promise(() => {})),
      )
      assert.equal(full, true)
      const after = async (signing: Promise<{ status: number; text: string }>) => {
        const { status, text } = await signing
        assert.equal(status, 200, text)
        return ended
      }
      const before = ended
      const turns = await Promise.all([
        after(call('POST', '/session', { email, password })),
        after(from(new_address())('POST', '/session', { email, password })),
        after(from(new_address())('GET', '/setup')),
      ])
      const all = await Promise.all(replies)
      for (const { status, headers } of all) {
        assert.ok([401, 503].includes(status), String(status))
        if (status === 503) assert.equal(headers.get('retry-after'), '5')
      }
      for (const turn of turns) assert.ok(turn - before < 50, `after ${turn - before} of the flood`)
    }))
})
