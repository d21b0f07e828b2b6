// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openPage } from './browser.ts'
import { client, useRapport } from './harness.ts'

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
