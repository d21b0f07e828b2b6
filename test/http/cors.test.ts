import assert from 'node:assert/strict'
import { request } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { type Rapport, startRapport } from '../harness.ts'

const page = 'https://app.example.com'
const contacts = '/api/v1/contacts'
const asking = (method: string, origin = page) => ({ origin, 'access-control-request-method': method })
const list = (headers: Headers, name: string) => (headers.get(name) ?? '').toLowerCase().split(', ')

describe('with CORS_ORIGINS', () => {
  let rapport: Rapport
  before(async () => {
    const env = { CORS_ORIGINS: `${page}, http://localhost:5173`, RATE_LIMIT_PER_SECOND: '20' }
    rapport = await startRapport({ env })
  })
  after(() => rapport.close())

  test('a preflight of a listed origin is answered without a key, with what the API takes', async () => {
    for (const path of [contacts, `${contacts}/1`, '/api/v1/unknown']) {
      const { status, headers, text } = await rapport.call('OPTIONS', path, undefined, {
        ...asking('PATCH'),
        authorization: '',
      })
      assert.deepEqual([status, text], [204, ''])
      assert.equal(headers.get('access-control-allow-origin'), page)
      assert.equal(headers.get('vary'), 'Origin')
      assert.equal(headers.get('access-control-max-age'), '7200')
      assert.equal(headers.get('access-control-allow-credentials'), null)
      for (const method of ['get', 'post', 'put', 'patch', 'delete'])
        assert.ok(list(headers, 'access-control-allow-methods').includes(method), method)
      for (const name of ['authorization', 'content-type', 'idempotency-key', 'if-match', 'if-none-match'])
        assert.ok(list(headers, 'access-control-allow-headers').includes(name), name)
    }
  })

  test('a listed origin reads answers, their headers, and every kind of refusal', async () => {
    const body = { first_name: 'Ana', last_name: 'Ruiz', email: 'ana@acme.example' }
    const large = { first_name: 'a'.repeat(2_000_000) }
    const origin = { origin: page }
    const nobody = { ...origin, authorization: 'Bearer nobody' }
    const replies = [
      await rapport.call('POST', contacts, body, origin),
      await rapport.call('POST', contacts, {}, origin),
      await rapport.call('POST', contacts, large, origin),
      await rapport.call('GET', contacts, undefined, nobody),
      await rapport.call('GET', `${contacts}/999`, undefined, origin),
      await rapport.call('GET', '/api/v1/nothing', undefined, origin),
      await rapport.call('GET', `${contacts}/%zz`, undefined, origin),
      await rapport.call('PATCH', contacts, {}, origin),
    ]
    assert.deepEqual(
      replies.map(({ status }) => status),
      [201, 422, 413, 401, 404, 404, 400, 405],
    )
    let fast = await rapport.call('GET', contacts, undefined, origin)
    for (let n = 0; n < 500 && fast.status === 200; n++)
      fast = await rapport.call('GET', contacts, undefined, origin)
    assert.equal(fast.status, 429)
    for (const { status, headers } of [...replies, fast]) {
      assert.equal(headers.get('access-control-allow-origin'), page, String(status))
      assert.equal(headers.get('vary'), 'Origin')
      assert.equal(headers.get('access-control-allow-credentials'), null)
      const shown = list(headers, 'access-control-expose-headers')
      for (const name of [
        'etag',
        'location',
        'x-total-count',
        'retry-after',
        'ratelimit-remaining',
        'x-request-id',
      ])
        assert.ok(shown.includes(name), name)
    }
  })

  test('other origins, in any spelling, and callers without an origin get no permission', async () => {
    const others = ['https://app.example.com.evil.example', 'http://app.example.com', `${page}:444`, 'null']
    for (const origin of [...others, `${page}/`, page.toUpperCase(), `${page}, ${page}`]) {
      const preflight = await rapport.call('OPTIONS', contacts, undefined, asking('POST', origin))
      assert.equal(preflight.status, 405)
      for (const { headers } of [preflight, await rapport.call('GET', contacts, undefined, { origin })]) {
        assert.equal(headers.get('access-control-allow-origin'), null, origin)
        assert.equal(headers.get('vary'), 'Origin', 'a cache keeps answers of origins apart')
      }
    }
    assert.equal((await rapport.call('OPTIONS', contacts)).status, 405)
    assert.equal((await rapport.call('GET', contacts)).headers.get('access-control-allow-origin'), null)
  })

  test('the web app, booking pages and health are not for other origins', async () => {
    for (const path of ['/', '/healthz', '/metrics', '/book/x', '/docs/', '/apix'])
      for (const method of ['GET', 'OPTIONS']) {
        const { headers } = await rapport.call(method, path, undefined, asking('GET'))
        assert.equal(headers.get('access-control-allow-origin'), null, path)
      }
  })

  test('the stream of events is for a listed origin too', async () => {
    const headers = { authorization: `Bearer ${rapport.key}`, origin: page }
    await new Promise((resolve, reject) => {
      const asked = request(`${rapport.url}/api/v1/events/stream`, { headers }, (response) => {
        asked.destroy()
        resolve(assert.equal(response.headers['access-control-allow-origin'], page))
      })
      asked.on('error', reject).end()
    })
  })

  test('a session of another origin changes nothing, and no browser may show what it reads', async () => {
    const headers = { origin: page, authorization: '', cookie: 'rapport_session=a' }
    const reply = await rapport.call('GET', contacts, undefined, headers)
    assert.equal(reply.headers.get('access-control-allow-credentials'), null)
    const sent = { origin: page, authorization: '', 'sec-fetch-site': 'cross-site' }
    const body = { email: 'ana@acme.example', password: 'correct horse battery' }
    const entered = await rapport.call('POST', '/api/v1/session', body, sent)
    assert.deepEqual([entered.status, entered.headers.get('set-cookie')], [403, null])
  })
})

test('CORS_ORIGINS=* lets pages of all origins call the API, never with cookies', async (t) => {
  const rapport = await startRapport({ env: { CORS_ORIGINS: '*' } })
  t.after(() => rapport.close())
  for (const [method, status] of [
    ['OPTIONS', 204],
    ['GET', 200],
  ] as const) {
    const reply = await rapport.call(method, contacts, undefined, asking('GET', 'null'))
    assert.equal(reply.status, status)
    assert.equal(reply.headers.get('access-control-allow-origin'), '*')
    assert.equal(reply.headers.get('access-control-allow-credentials'), null)
  }
})

test('without CORS_ORIGINS no answer has a header of CORS', async (t) => {
  const rapport = await startRapport()
  t.after(() => rapport.close())
  for (const method of ['OPTIONS', 'GET']) {
    const { headers, status } = await rapport.call(method, contacts, undefined, asking('GET'))
    assert.equal(status, method === 'GET' ? 200 : 405)
    const names = [...headers.keys()].filter((name) => name.startsWith('access-control') || name === 'vary')
    assert.deepEqual(names, [])
  }
})
