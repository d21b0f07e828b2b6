import assert from 'node:assert/strict'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { revokeKey } from '../../src/access/keys/keys.ts'
import { scopes } from '../../src/app.ts'
import { systemClock } from '../../src/clock.ts'
import { hashToken } from '../../src/db/token-hash.ts'
import { command_line } from '../../src/events/context.ts'
import { first_key_file, readStored } from '../database.ts'
import { problems, refused } from '../envelope.ts'
import { callOf, client, type Reply, turnableClock, useRapport } from '../harness.ts'
import { beside, makeKey } from '../keys.ts'
import { until } from '../webhooks.ts'

const clock = turnableClock()
const rapport = useRapport({ clock })
const call = callOf(rapport)

const path = '/api/v1/companies'
const revoke = (id: string) => beside(rapport.data_dir, (db) => revokeKey(db, systemClock, command_line, id))

describe('keys', () => {
  test('missing, unknown, malformed, revoked and expired keys get the same answer', async () => {
    const revoked = await makeKey(rapport)
    await revoke(revoked.id)
    const expired = await makeKey(rapport, { expires_at: new Date(clock.now()).toISOString() })
    const values = [
      undefined,
      '',
      'Bearer',
      'Bearer ',
      `Basic ${btoa(`${rapport.key}:`)}`,
      rapport.key,
      `Token ${rapport.key}`,
    ]
    values.push(
      'Bearer crm_0',
      `Bearer ${rapport.key}x`,
      `Bearer ${rapport.key.slice(0, -1)}`,
      `Bearer ${rapport.key.toUpperCase()}`,
    )
    values.push(
      `Bearer ${revoked.token}`,
      `Bearer ${expired.token}`,
      `Bearer ${rapport.key} ${rapport.key}`,
      "Bearer ' OR 1=1 --",
    )
    const answers = new Set<string>()
    for (const authorization of values)
      for (const [method, at] of [
        ['GET', path],
        ['GET', `${path}/1`],
        ['POST', path],
        ['DELETE', `${path}/abc`],
        ['PUT', `${path}/999999`],
      ]) {
        const headers = authorization === undefined ? undefined : { authorization }
        const reply = await client(rapport.url, null)(String(method), String(at), undefined, headers)
        const { request_id } = refused(reply, 401, 'unauthorized')
        const shown = [...reply.headers].filter(([name]) => name !== 'date').map(String)
        answers.add([reply.text, ...shown].join('\n').replaceAll(request_id, ''))
      }
    assert.equal(answers.size, 1, [...answers].join('\n\n'))
    // Nothing of the body is looked at before the key.
    refused(await client(rapport.url, null)('POST', path, '{'), 401, 'unauthorized')
  })

  test('a key with a wrong end is refused as fast as a completely wrong key', async () => {
    const close = `${rapport.key.slice(0, -1)}${rapport.key.endsWith('a') ? 'b' : 'a'}`
    const far = `crm_${'0'.repeat(43)}`
    const median = (all: number[]) => all.toSorted((a, b) => a - b)[all.length >> 1] as number
    async function ratio() {
      const times = { close: [] as number[], far: [] as number[] }
      // In turns, so that what else the machine does meets both alike.
      for (let n = 0; n < 150; n++)
        for (const [name, token] of [['close', close] as const, ['far', far] as const]) {
          const began = performance.now()
          const reply = await client(rapport.url, token)('GET', path)
          times[name].push(performance.now() - began)
          assert.equal(reply.status, 401)
        }
      return median(times.close) / median(times.far)
    }
    // A difference that a guesser could use is there each time. Other work of the machine is not.
    const ratios: number[] = []
    do ratios.push(await ratio())
    while (ratios.length < 5 && !ratios.some((one) => one > 0.67 && one < 1.5))
    assert.ok(
      ratios.some((one) => one > 0.67 && one < 1.5),
      `× ${ratios}`,
    )
  })

  test('the scheme is read in any case, as HTTP says', async () => {
    for (const scheme of ['Bearer', 'bearer', 'BEARER', 'Bearer  '])
      assert.equal(
        (
          await client(rapport.url, null)('GET', path, undefined, {
            authorization: `${scheme} ${rapport.key}`,
          })
        ).status,
        200,
      )
  })

  test('a key in the address is no key', async () => {
    for (const name of ['api_key', 'access_token', 'authorization'])
      refused(await client(rapport.url, null)('GET', `${path}?${name}=${rapport.key}`), 401, 'unauthorized')
  })

  test('a new key counts at once, a revoked one stops within a second, while it is in use', async () => {
    const { id, call: mine } = await makeKey(rapport)
    assert.equal((await mine('GET', path)).status, 200)
    await revoke(id)
    const revoked_at = performance.now()
    let reply: Reply
    let asked_at: number
    do {
      asked_at = performance.now()
      reply = await mine('GET', path)
    } while (reply.status === 200 && asked_at - revoked_at < 1000)
    refused(reply, 401, 'unauthorized')
    refused(await mine('GET', path), 401, 'unauthorized')
    assert.equal((await call('GET', path)).status, 200)
  })

  test('a key expires to the millisecond', async () => {
    const { call: mine } = await makeKey(rapport, { expires_at: new Date(clock.now() + 1000).toISOString() })
    clock.advance(999)
    assert.equal((await mine('GET', path)).status, 200)
    clock.advance(1)
    refused(await mine('GET', path), 401, 'unauthorized')
  })

  test('a key is crm_ and 43 letters or digits, and no two are alike', async () => {
    const made = await Promise.all(Array.from({ length: 20 }, () => makeKey(rapport)))
    for (const { token } of made) assert.match(token, /^crm_[0-9A-Za-z]{43}$/)
    assert.equal(new Set(made.map(({ token }) => token)).size, 20)
    assert.equal(new Set(made.map(({ id }) => id)).size, 20)
  })

  test('the database holds a hash of the key, not the key', async () => {
    const { token, call: mine } = await makeKey(rapport)
    assert.equal((await mine('POST', path, { name: 'Acme' }, { 'idempotency-key': 'a' })).status, 201)
    const stored = await readStored(rapport.data_dir)
    const bytes = await stored.contents()
    await stored.close()
    assert.ok(bytes.includes(hashToken(token)))
    for (const text of [token, token.slice(4), rapport.key, rapport.key.slice(4)])
      assert.ok(!bytes.includes(text))
    const file = join(rapport.data_dir, first_key_file)
    assert.equal(readFileSync(file, 'utf8'), `${rapport.key}\n`)
    assert.equal(statSync(file).mode & 0o777, 0o600)
  })

  test('when a key was last used is noted, and nothing is noted for a refused one', async () => {
    const stored = await readStored(rapport.data_dir)
    const used = async (id: string) =>
      (await stored.rows('SELECT last_used_at FROM api_keys WHERE id = ?', id))[0]?.last_used_at
    const [mine, expired] = [
      await makeKey(rapport),
      await makeKey(rapport, { expires_at: '2020-01-01T00:00:00.000Z' }),
    ]
    assert.equal(await used(mine.id), null)
    refused(await expired.call('GET', path), 401, 'unauthorized')
    const now = new Date(clock.now()).toISOString()
    await mine.call('GET', path)
    // Noted beside the answer, not before it.
    await until(
      () => used(mine.id),
      (at) => at === now,
    )
    assert.equal(await used(expired.id), null)
    // Also a minute after somebody has set the clock back.
    clock.set(-3_600_000)
    clock.advance(60_000)
    const later = new Date(clock.now()).toISOString()
    await mine.call('GET', path)
    await until(
      () => used(mine.id),
      (at) => at === later,
    )
    clock.set(3_600_000)
    await stored.close()
  })
})

describe('scopes', () => {
  test('every scope opens its own resource, in its own direction, and nothing else', async () => {
    const { id } = (await call('POST', path, { name: 'Acme' })).body.data
    const requests: [scope: string, method: string, at: string][] = []
    for (const name of ['companies', 'contacts', 'deals', 'webhooks']) {
      const at = `/api/v1/${name}`
      requests.push(
        [`${name}:read`, 'GET', at],
        [`${name}:read`, 'HEAD', at],
        [`${name}:read`, 'GET', `${at}/999999`],
      )
      requests.push(
        [`${name}:write`, 'POST', at],
        [`${name}:write`, 'PUT', `${at}/999999`],
        [`${name}:write`, 'PATCH', `${at}/999999`],
      )
      requests.push([`${name}:write`, 'DELETE', `${at}/999999`])
    }
    requests.push(
      ['companies:write', 'POST', `${path}/${id}/restore`],
      ['webhooks:read', 'GET', '/api/v1/deliveries'],
    )
    for (const scope of scopes) {
      const { call: mine } = await makeKey(rapport, { scopes: [scope] })
      for (const [needed, method, at] of requests) {
        const reply = await mine(method, at)
        if (needed === scope)
          assert.ok(
            reply.status < 500 && ![401, 403].includes(reply.status),
            `${scope}: ${method} ${at} ${reply.text}`,
          )
        else if (method === 'HEAD') assert.equal(reply.status, 403)
        else assert.ok(refused(reply, 403, 'forbidden').message.includes(needed))
      }
    }
  })

  test('a key of no scope reads and writes nothing; a refused write changes nothing', async () => {
    const { call: mine } = await makeKey(rapport, { scopes: [] })
    const { text } = await call('GET', path)
    refused(await mine('GET', path), 403, 'forbidden')
    refused(await mine('POST', path, { name: 'Acme' }), 403, 'forbidden')
    // Before the body and the id are looked at.
    refused(await mine('POST', path, '{'), 403, 'forbidden')
    refused(await mine('GET', `${path}/abc`), 403, 'forbidden')
    assert.equal((await call('GET', path)).text, text)
  })

  test('a key that may write gets the problems of its body', async () => {
    const { call: mine } = await makeKey(rapport, { scopes: ['companies:write'] })
    assert.deepEqual(problems(await mine('POST', path, {})), { name: 'required' })
  })
})
