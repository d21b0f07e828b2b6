// runs: once
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type Rapport, startRapport } from '../../test/harness.ts'
import { buildWebApp } from './build.ts'

let rapport: Rapport
let assets: string[]
before(async () => {
  const web_folder = await buildWebApp(console.error)
  assert.ok(web_folder)
  assets = readdirSync(join(web_folder, 'assets'))
  rapport = await startRapport({ web_folder })
})
after(() => rapport?.close())

const get = (path: string, headers: Record<string, string> = {}) =>
  rapport.call('GET', path, undefined, { accept: 'text/html,*/*', ...headers })

test('the pages are one document under a strict policy, with a nonce of its own each time', async () => {
  const nonces = new Set<string>()
  for (const path of ['/', '/contacts', '/contacts/7', '/settings/deliveries/dlv_1', '/setup']) {
    const { status, headers, text } = await get(path)
    assert.equal(status, 200, path)
    assert.match(headers.get('content-type') ?? '', /^text\/html/)
    assert.equal(headers.get('cache-control'), 'no-store')
    const policy = headers.get('content-security-policy') ?? ''
    assert.doesNotMatch(policy, /unsafe|https?:|\*/)
    const [, nonce = ''] = /script-src 'self' 'nonce-([^']+)'/.exec(policy) ?? []
    assert.ok(text.includes(`nonce="${nonce}"`))
    nonces.add(nonce)
  }
  assert.equal(nonces.size, 5)
})

test('the document is compressed for those that accept it, with the same text but for its nonce', async () => {
  const read = async (coding: string) => {
    const answer = await fetch(rapport.url, { headers: { accept: 'text/html', 'accept-encoding': coding } })
    const text = (await answer.text()).replaceAll(/(nonce="|csp-nonce" content=")[^"]+/g, '$1')
    return {
      text,
      coding: answer.headers.get('content-encoding'),
      bytes: answer.headers.get('content-length'),
    }
  }
  const plain = await read('identity')
  const packed = await read('br, gzip')
  assert.equal(plain.coding, null)
  assert.equal(packed.coding, 'gzip')
  assert.equal(packed.text, plain.text)
  assert.ok(Number(packed.bytes) < Number(plain.bytes) / 2)
})

test('files are compressed and cached without a limit; a missing one is a plain 404', async () => {
  const script = assets.find((name) => name.endsWith('.js'))
  const { status, headers } = await get(`/assets/${script}`, { 'accept-encoding': 'br' })
  assert.equal(status, 200)
  assert.equal(headers.get('content-encoding'), 'br')
  assert.match(headers.get('cache-control') ?? '', /max-age=31536000.*immutable/)
  assert.equal(headers.get('x-content-type-options'), 'nosniff')
  for (const path of ['/assets/gone.js', '/assets/../index.html', '/assets/%2e%2e/index.html', '/assets/']) {
    const missing = await get(path)
    assert.equal(missing.status, 404, path)
    assert.equal(missing.body.error.code, 'not_found')
  }
  assert.equal((await rapport.call('POST', `/assets/${script}`)).status, 405)
})

test('the app can be installed: its manifest names icons of the sizes that it says', async () => {
  const { text } = await get('/')
  const [, manifest = ''] = /<link rel="manifest" href="([^"]+)"/.exec(text) ?? []
  const { status, headers, text: json } = await get(manifest)
  assert.equal(status, 200, manifest)
  assert.equal(headers.get('content-type'), 'application/manifest+json')
  const { start_url, display, icons } = JSON.parse(json)
  assert.deepEqual([start_url, display], ['/', 'standalone'])
  const [, touch = ''] = /<link rel="apple-touch-icon" href="([^"]+)"/.exec(text) ?? []
  assert.ok(icons.some(({ purpose }: { purpose?: string }) => purpose === 'maskable'))
  for (const { src, sizes, type } of [...icons, { src: touch, sizes: '180x180', type: 'image/png' }]) {
    const response = await fetch(rapport.url + src)
    assert.equal(response.headers.get('content-type'), type, src)
    // The width and the height are at the begin of a PNG.
    const bytes = Buffer.from(await response.arrayBuffer())
    assert.equal(`${bytes.readUInt32BE(16)}x${bytes.readUInt32BE(20)}`, sizes, src)
  }
})

test('a request without the prefix of the API gets an error that names it, and no page', async () => {
  for (const accept of ['*/*', 'application/json']) {
    const { status, body } = await get('/contacts', { accept })
    assert.equal(status, 404)
    assert.equal(body.error.code, 'not_found')
  }
  assert.equal((await get('/nothing')).status, 404)
})
