// runs: once
import assert from 'node:assert/strict'
import type { AddressInfo, Socket } from 'node:net'
import { test } from 'node:test'
import { createServer } from '../../src/http/server.ts'
import { problems, refused } from '../envelope.ts'
import { startRapport, useRapport } from '../harness.ts'
import { exchange, type RawReply } from '../raw-http.ts'
import { before } from '../use.ts'

const rapport = useRapport()
let key: string
before(async () => {
  key = `Host: rapport.example\r\nAuthorization: Bearer ${rapport.key}\r\n`
})

const path = '/api/v1/companies'
const json = 'Content-Type: application/json\r\n'
const post = (headers: string, body: string) => `POST ${path} HTTP/1.1\r\n${key}${json}${headers}\r\n${body}`
const total = async () => (await rapport.call('GET', path)).body.meta.total

async function one(bytes: string | Buffer): Promise<RawReply> {
  const [reply] = await exchange(rapport.url, bytes)
  assert.ok(reply, 'the connection was closed without an answer')
  return reply
}

test('what is not HTTP at all is 400 in the envelope', async () => {
  const texts = [
    'garbage\r\n\r\n',
    '\0\0\0\0\r\n\r\n',
    'GET\r\n\r\n',
    `GET / HTTP/9.9\r\n${key}\r\n`,
    `get / HTTP/1.1\r\n${key}\r\n`,
  ]
  texts.push(
    `BREW ${path} HTTP/1.1\r\n${key}\r\n`,
    `GET  HTTP/1.1\r\n${key}\r\n`,
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  )
  texts.push(`GET / HTTP/1.1\r\n${key}Broken header\r\n\r\n`, `GET / HTTP/1.1\r\n${key}X: a\0b\r\n\r\n`)
  for (const text of texts) {
    const reply = await one(text)
    refused(reply, 400, 'bad_request')
    assert.equal(reply.headers.get('connection'), 'close')
  }
  // The TLS hello of a browser that uses https.
  refused(await one(Buffer.from('16030100f6010000f20303', 'hex')), 400, 'bad_request')
})

test('a request without Host is 400, except in HTTP/1.0, which has none', async () => {
  refused(await one('GET /healthz HTTP/1.1\r\n\r\n'), 400, 'bad_request')
  assert.equal((await one('GET /healthz HTTP/1.0\r\n\r\n')).status, 200)
})

test('headers or a path larger than 16 KiB are 431 in the envelope', async () => {
  refused(await one(`GET / HTTP/1.1\r\n${key}X: ${'a'.repeat(16_384)}\r\n\r\n`), 431, 'bad_request')
  refused(await one(`GET /${'a'.repeat(16_384)} HTTP/1.1\r\n${key}\r\n`), 431, 'bad_request')
  assert.equal((await one(`GET /healthz HTTP/1.1\r\n${key}X: ${'a'.repeat(15_000)}\r\n\r\n`)).status, 200)
})

test('a body with a contradictory or invalid length is 400, and creates nothing', async () => {
  const before = await total()
  const body = '{"name":"Acme"}'
  const headers = [
    'Content-Length: abc\r\n',
    'Content-Length: -1\r\n',
    'Content-Length: 15\r\nContent-Length: 16\r\n',
    'Content-Length: 15, 15\r\n',
  ]
  headers.push(
    'Content-Length: 15\r\nTransfer-Encoding: chunked\r\n',
    'Content-Length: 99999999999999999999\r\n',
  )
  headers.push('Transfer-Encoding: chunked, identity\r\n', 'Transfer-Encoding: rot13\r\n')
  for (const header of headers) refused(await one(post(header, body)), 400, 'bad_request')
  refused(await one(post('Transfer-Encoding: chunked\r\n', 'zz\r\n{}\r\n0\r\n\r\n')), 400, 'bad_request')
  refused(await one(post('Transfer-Encoding: chunked\r\n', '-1\r\n{}\r\n0\r\n\r\n')), 400, 'bad_request')
  assert.equal(await total(), before)
})

test('a body that ends before its Content-Length makes nothing', async () => {
  const before = await total()
  const half = post('Content-Length: 100\r\n', '{"name":"Acme"}')
  const [reply] = await exchange(rapport.url, half, { opened: (socket) => socket.end() })
  refused(reply as RawReply, 400, 'bad_request')
  const chunk = post('Transfer-Encoding: chunked\r\n', 'f\r\n{"name":"Acme"}\r\n')
  for (const bytes of [half, chunk]) {
    const opened = (socket: Socket) => setTimeout(() => socket.destroy(), 30)
    await assert.rejects(exchange(rapport.url, bytes, { opened }), { code: 'ERR_STREAM_PREMATURE_CLOSE' })
  }
  assert.equal(await total(), before)
})

test('bytes beyond the Content-Length are the next request, never part of the body', async () => {
  const [made, next] = await exchange(
    rapport.url,
    `${post('Content-Length: 12\r\n', '{"name":"A"}')}GET /healthz HTTP/1.1\r\n${key}\r\n`,
    { count: 2 },
  )
  assert.equal(made?.body.data.name, 'A')
  assert.deepEqual(next?.body, { success: true, data: { status: 'ok' } })
})

test('a good request that is followed by garbage gets its own answer first', async () => {
  const list = `GET ${path} HTTP/1.1\r\n${key}\r\n`
  const replies = await exchange(
    rapport.url,
    `${list}${post('Content-Length: 12\r\n', '{"name":"A"}')}${list}garbage\r\n\r\n`,
    { count: 5 },
  )
  assert.deepEqual(
    replies.map(({ status }) => status),
    [200, 201, 200, 400],
  )
  refused(replies[3] as RawReply, 400, 'bad_request')
})

test('a request that is not complete in time is 408 in the envelope, both in its headers and in its body', async () => {
  const app = createServer(undefined, { request_ms: 120 })
  app.post('/', async () => 'never')
  await app.listen({ port: 0, host: '127.0.0.1' })
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
  try {
    const headers = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 9\r\n'
    for (const part of ['POST ', headers, `${headers}\r\n{"a"`]) {
      const [reply] = await exchange(url, part)
      refused(reply as RawReply, 408, 'bad_request')
    }
  } finally {
    await app.close()
  }
})

test('Expect: 100-continue is answered before the body is sent, any other expectation is passed over', async () => {
  const body = '{"name":"A"}'
  const [go, made] = await exchange(rapport.url, post('Expect: 100-continue\r\nContent-Length: 12\r\n', ''), {
    count: 2,
    opened: (socket) => socket.once('data', () => socket.write(body)),
  })
  assert.deepEqual([go?.status, made?.status], [100, 201])
  assert.equal((await one(post('Expect: tea\r\nContent-Length: 12\r\n', body))).status, 201)
})

test('methods that no HTTP client library sends are refused like all others', async () => {
  for (const method of ['TRACE', 'OPTIONS', 'QUERY', 'LOCK', 'M-SEARCH', 'PURGE']) {
    const reply = await one(`${method} ${path} HTTP/1.1\r\n${key}\r\n`)
    refused(reply, 405, 'method_not_allowed')
    assert.equal(reply.headers.get('allow'), 'GET, HEAD, POST')
    refused(await one(`${method} /none HTTP/1.1\r\n${key}\r\n`), 404, 'not_found')
  }
  refused(await one(`OPTIONS * HTTP/1.1\r\n${key}\r\n`), 404, 'not_found')
  refused(await one(`CONNECT crm.example:443 HTTP/1.1\r\n${key}\r\n`), 405, 'method_not_allowed')
  refused(await one(`CONNECT ${path} HTTP/1.1\r\n${key}\r\n`), 405, 'method_not_allowed')
})

test('a path may be the whole URL, as a proxy sends it, and may be percent-encoded', async () => {
  assert.equal((await one(`GET http://rapport.example${path}?page=1 HTTP/1.1\r\n${key}\r\n`)).status, 200)
  refused(await one(`DELETE http://rapport.example${path} HTTP/1.1\r\n${key}\r\n`), 405, 'method_not_allowed')
  assert.equal((await one(`GET /api/v1/c%6fmpanies HTTP/1.1\r\n${key}\r\n`)).status, 200)
})

test('a request to change the protocol is answered as if it had not asked', async () => {
  const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\n'
  assert.equal((await one(`GET ${path} HTTP/1.1\r\n${key}${upgrade}\r\n`)).status, 200)
})

test('a body that is too large is refused before it is sent', async () => {
  refused(await one(post(`Content-Length: ${2 ** 40}\r\n`, '')), 413, 'payload_too_large')
  // The schema checks a body that HTTP accepts.
  assert.deepEqual(problems(await one(post('Content-Length: 2\r\n', '{}'))), { name: 'required' })
})

test('both addresses of the name localhost answer alike', async (t) => {
  const local = await startRapport({ env: { HOST: 'localhost' } })
  t.after(local.close)
  const { port } = new URL(local.url)
  for (const host of ['127.0.0.1', '[::1]']) {
    const replies = await exchange(`http://${host}:${port}`, 'garbage\r\n\r\n').catch(() => null)
    // A machine without IPv6 has one address.
    if (host === '127.0.0.1' || replies) refused(replies?.[0] as RawReply, 400, 'bad_request')
  }
})
