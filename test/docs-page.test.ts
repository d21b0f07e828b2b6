// runs: once
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { openPage, startBrowser } from './browser.ts'
import { client, useRapport } from './harness.ts'
import { until } from './webhooks.ts'

const rapport = useRapport()

test('/ leads to the docs page, which is there with and without the slash and needs no key', async () => {
  const call = client(rapport.url, null)
  const root = await call('GET', '/')
  assert.equal(root.status, 302)
  for (const path of [root.headers.get('location') ?? '', '/docs', '/docs/']) {
    const page = await call('GET', path)
    assert.equal(page.status, 200, path)
    assert.match(page.headers.get('content-type') ?? '', /^text\/html/)
    assert.ok(page.headers.get('x-request-id'))
  }
})

test('other paths and methods beside the page keep their errors in the envelope', async () => {
  const call = client(rapport.url, null)
  for (const [method, path, status, code] of [
    ['GET', '/docs/nothing', 404, 'not_found'],
    ['GET', '/docs/js/scalar.js', 404, 'not_found'],
    ['GET', '/documents', 404, 'not_found'],
    ['POST', '/docs', 405, 'method_not_allowed'],
    ['DELETE', '/docs/', 405, 'method_not_allowed'],
    ['PUT', '/', 405, 'method_not_allowed'],
    ['POST', '/api/v1/openapi.json', 405, 'method_not_allowed'],
  ] as const) {
    const answer = await call(method, path)
    assert.equal(answer.status, status, `${method} ${path}`)
    assert.equal(answer.body.error.code, code, `${method} ${path}`)
  }
})

test("everything of the page carries a policy that names no other host, and a known script isn't sent again", async () => {
  const call = client(rapport.url, null)
  for (const path of ['/docs', '/docs/', '/docs/start.js', '/docs/scalar.js']) {
    const { headers } = await call('GET', path)
    const policy = headers.get('content-security-policy') ?? ''
    assert.match(policy, /^default-src 'none';/)
    const sources = policy.split(';').flatMap((directive) => directive.trim().split(' ').slice(1))
    for (const source of sources) assert.match(source, /^('none'|'self'|'unsafe-inline'|data:)$/)
    assert.doesNotMatch(policy, /script-src[^;]*unsafe/)
    const again = await call('GET', path, undefined, { 'if-none-match': headers.get('etag') ?? '' })
    assert.equal(again.status, 304, path)
  }
})

test('without a network the page shows the operations and the events, sends a request, and asks no other host', async () => {
  const page = await openPage(`${rapport.url}/docs`)
  try {
    const { paths, webhooks } = (await rapport.call('GET', '/api/v1/openapi.json')).body
    const shown = [...Object.keys(paths), ...Object.keys(webhooks)]
    assert.ok(shown.includes('/api/v1/companies/{id}') && shown.includes('company.created'))
    await page.until(`${JSON.stringify(shown)}.every((text) => document.body.textContent.includes(text))`)
    // The page renders parts when they come into view. Open one of each kind, because it may load more files then.
    for (const part of ['deals/POST/api/v1/deals', 'events', 'deliveries/GET/api/v1/deliveries'])
      await page.evaluate(`location.hash = '#tag/${part}'; new Promise((done) => setTimeout(done, 200))`)
    const status = await page.evaluate<number>(
      `fetch('/api/v1/companies', { headers: { authorization: 'Bearer ${rapport.key}' } }).then(({ status }) => status)`,
    )
    assert.equal(status, 200)

    const { host } = new URL(rapport.url)
    const elsewhere = page.requests.filter(
      (url) => !url.startsWith('data:') && !url.startsWith('blob:') && new URL(url).host !== host,
    )
    assert.deepEqual(elsewhere, [])
    assert.ok(page.requests.some((url) => url.endsWith('/api/v1/openapi.json')))
    assert.deepEqual(page.complaints, [])
  } finally {
    await page.close()
  }
})

test('a request to another host from within the page is stopped by its policy', async () => {
  const page = await openPage(`${rapport.url}/docs/`)
  try {
    await page.until("document.readyState === 'complete'")
    const outcome = await page.evaluate<string>(
      "new Promise((resolve) => { addEventListener('securitypolicyviolation', (event) => resolve(event.blockedURI)); fetch('http://127.0.0.1:9/').catch(() => {}); const image = new Image(); image.src = 'http://127.0.0.1:9/x.png' })",
    )
    assert.match(outcome, /^http:\/\/127\.0\.0\.1:9\//)
  } finally {
    await page.close()
  }
})

const coded = async (path: string, coding: string, headers: Record<string, string> = {}) => {
  const given = { 'accept-encoding': coding, ...headers }
  // fetch would decode the answer, and ask for every coding itself.
  const [answer] = (await once(request(rapport.url + path, { headers: given }).end(), 'response')) as [
    IncomingMessage,
  ]
  return { status: answer.statusCode, headers: answer.headers, bytes: await buffer(answer) }
}
const scripts = async () =>
  [...(await (await fetch(`${rapport.url}/docs/`)).text()).matchAll(/<script src="([^"]+)"/g)].map(
    ([, path]) => path as string,
  )

test('a first visit of the docs page transfers at most 1.2 MB, and a second one no content', async () => {
  const bytes = new Map<string, number>()
  const urls = new Map<string, string>()
  const browser = await startBrowser(({ method, params }) => {
    if (method === 'Network.requestWillBeSent') urls.set(params.requestId, params.request.url)
    if (method !== 'Network.loadingFinished' || params.encodedDataLength === 0) return
    const url = urls.get(params.requestId) ?? ''
    if (url.startsWith(rapport.url)) bytes.set(url.slice(rapport.url.length), params.encodedDataLength)
  })
  const visit = async () => {
    bytes.clear()
    await browser.goto(`${rapport.url}/docs/`)
    await until(
      () => browser.evaluate<boolean>("document.body?.textContent.includes('/api/v1/companies/{id}')"),
      Boolean,
    )
    return [...bytes.values()].reduce((sum, one) => sum + one, 0)
  }
  try {
    for (const domain of ['Network', 'Page']) await browser.send(`${domain}.enable`)
    const first = await visit()
    assert.ok(first > 100_000 && first <= 1_200_000, `${first} bytes`)
    await browser.goto('about:blank')
    // The headers of two answers: the page and the document have not changed.
    assert.ok((await visit()) < 3000, `${[...bytes].join('; ')}`)
    assert.deepEqual([...bytes.keys()].sort(), ['/api/v1/openapi.json', '/docs/'])
  } finally {
    await browser.close()
  }
})

test('the scripts of the docs page never change at their address; the page and the document are asked for again', async () => {
  for (const path of await scripts()) {
    const { status, headers } = await coded(path, 'br')
    assert.equal(status, 200)
    assert.match(headers['cache-control'] ?? '', /^public, max-age=31536000, immutable$/)
    // An older page asks for another address of the same script.
    const { headers: older } = await coded(path.replace(/\?.*/, '?older'), 'br')
    assert.equal(older['cache-control'], 'no-cache')
  }
  for (const path of ['/docs/', '/api/v1/openapi.json'])
    assert.equal((await coded(path, 'br')).headers['cache-control'], 'no-cache')
})

test('the script and the document are the same in each coding, and are not sent to a client that has them', async () => {
  const [script = ''] = await scripts()
  const decode: Record<string, (bytes: Buffer) => Buffer> = {
    br: brotliDecompressSync,
    gzip: gunzipSync,
    identity: (bytes) => bytes,
  }
  for (const path of [script, '/api/v1/openapi.json']) {
    const texts = new Set<string>()
    for (const [coding, decoded] of Object.entries(decode)) {
      const { headers, bytes } = await coded(path, coding)
      assert.equal(headers['content-encoding'], coding === 'identity' ? undefined : coding)
      assert.equal(headers.vary, 'accept-encoding')
      const text = decoded(bytes)
      if (coding !== 'identity') assert.ok(bytes.length < 0.3 * text.length, `${coding}: ${bytes.length}`)
      texts.add(text.toString())
      // A proxy that compresses makes a weak tag, or adds to it.
      for (const known of [`W/${headers.etag}`, `"a", ${headers.etag}`]) {
        const again = await coded(path, coding, { 'if-none-match': known })
        assert.deepEqual([again.status, again.bytes.length], [304, 0])
      }
      assert.equal((await coded(path, coding, { 'if-none-match': '"other"' })).status, 200)
    }
    assert.equal(texts.size, 1)
    assert.ok([...texts].every((text) => text.length > 500_000))
  }
})
