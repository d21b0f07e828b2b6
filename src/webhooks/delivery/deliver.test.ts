// runs: once
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { gzipSync } from 'node:zlib'
import { calmTime } from '../../../test/calm-time.ts'
import { message, onRequest, receiver, sender, tcpServer } from '../../../test/sender.ts'
import { type AttemptRequest, attempt_error_codes } from './deliver.ts'
import { signatureHeaders } from './signature.ts'

const limit = 16_384
/** A server that waits for the request, then writes these very bytes and leaves the connection open. */
function answering(t: TestContext, ...parts: (string | Uint8Array)[]) {
  return tcpServer(t, (socket) => {
    onRequest(socket, () => parts.forEach((part) => void socket.write(part)))
  })
}

function drip(socket: Socket, text: string, every_ms = 10) {
  let at = 0
  const timer = setInterval(() => socket.write(text[at++ % text.length]!), every_ms)
  socket.once('close', () => clearInterval(timer))
}

test('a delivery arrives with its exact bytes and verifiable signatures, and its answer is kept', async (t) => {
  const target = await receiver(t, { answer: { status: 201, headers: { 'x-one': 'a' }, body: 'thanks ✓' } })
  const secret = 'a secret of my own'
  const timestamp = Math.floor(Date.now() / 1000)
  const signed = signatureHeaders({ secrets: [secret], delivery_id: 'dlv_1', timestamp, body: message.body })
  const headers = { ...message.headers, ...signed }
  const before = Date.now()
  const { value: outcome, took_ms } = await calmTime(() =>
    sender(t).send({ url: `${target.url}?a=%20b`, headers, body: message.body }),
  )

  const [got] = await target.waitFor(1)
  assert.deepEqual([got?.method, got?.path, got?.body], ['POST', '/hook?a=%20b', message.body])
  assert.equal(got?.headers['content-type'], 'application/json')
  assert.equal(got?.headers['content-length'], String(Buffer.byteLength(message.body)))
  await target.verify(secret)
  await assert.rejects(target.verify('another secret, not this one'), /bad signature/)

  assert.deepEqual([outcome.ok, outcome.error], [true, null])
  assert.deepEqual([outcome.response?.status, outcome.response?.body], [201, 'thanks ✓'])
  assert.equal(outcome.response?.headers['x-one'], 'a')
  assert.ok(outcome.started_at_ms >= before && outcome.duration_ms >= 0)
  assert.ok(outcome.duration_ms <= Math.ceil(took_ms), `${outcome.duration_ms} of ${took_ms} ms`)
  const own = { 'user-agent': 'Rapport-Webhooks/1.2.3', 'accept-encoding': 'identity' }
  assert.deepEqual(outcome.request, {
    url: `${target.url}?a=%20b`,
    headers: { ...headers, ...own },
  })
  assert.equal(got?.headers['user-agent'], own['user-agent'])
})

test('2xx is a success and nothing else is; a refusal keeps its answer', async (t) => {
  const target = await receiver(t)
  const { send } = sender(t)
  for (const status of [200, 201, 202, 204, 299, 304, 400, 401, 404, 410, 429, 500, 503, 599]) {
    target.answering = () => ({ status, headers: { 'retry-after': '600' } })
    const { ok, error, response } = await send({ ...message, url: target.url })
    const code = status < 300 ? undefined : status < 400 ? 'redirect_not_followed' : 'http_error'
    assert.deepEqual([ok, error?.code, response?.status], [status < 300, code, status])
    assert.equal(response?.headers['retry-after'], '600')
  }
})

test('a redirect is a failure and its target is never contacted', async (t) => {
  const canary = await receiver(t)
  const target = await receiver(t)
  const { send } = sender(t)
  for (const status of [301, 302, 303, 307, 308]) {
    target.answering = () => ({ status, headers: { location: canary.url } })
    const outcome = await send({ ...message, url: target.url })
    assert.equal(outcome.error?.code, 'redirect_not_followed')
    assert.equal(outcome.response?.headers.location, canary.url)
  }
  assert.equal(canary.received.length, 0)
})

test('a receiver that never answers, or sends headers byte by byte, times out at the deadline of the attempt', async (t) => {
  const silent = await receiver(t, { answer: 'hang' })
  const dripping = await tcpServer(t, (socket) => drip(socket, 'HTTP/1.1 200 OK\r\nx-slow: abcdefghijklmnop'))
  const { send } = sender(t, { timeout_ms: 300 })
  for (const url of [silent.url, dripping.url]) {
    const { value: outcome, calm_ms, took_ms } = await calmTime(() => send({ ...message, url }))
    assert.deepEqual([outcome.ok, outcome.error?.code, outcome.response], [false, 'timeout', null])
    assert.ok(outcome.duration_ms >= 299 && outcome.duration_ms <= Math.ceil(took_ms), `${took_ms} ms`)
    assert.ok(calm_ms < 800, `${calm_ms} ms`)
  }
})

// It answers while this thread stands still. Stages: 0, this thread runs; 1, it stands still; 2, the answer was sent.
const other_thread = `
  const { createServer } = require('node:http')
  const { parentPort, workerData: stage } = require('node:worker_threads')
  const server = createServer((request, response) => {
    request.resume()
    parentPort.postMessage('arrived')
    Atomics.wait(stage, 0, 0)
    response.end('thanks', () => {
      Atomics.store(stage, 0, 2)
      Atomics.notify(stage, 0)
    })
  })
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))`

test('an answer that arrived in time is a success, also if this process stood still until after the timeout', async (t) => {
  const timeout_ms = 3000
  const stage = new Int32Array(new SharedArrayBuffer(4))
  const worker = new Worker(other_thread, { eval: true, workerData: stage })
  t.after(() => worker.terminate())
  const [port] = await once(worker, 'message')
  const until_ms = performance.now() + timeout_ms + 100
  const sent = sender(t).send({ ...message, url: `http://127.0.0.1:${port}/hook`, timeout_ms })
  await once(worker, 'message')
  Atomics.store(stage, 0, 1)
  Atomics.notify(stage, 0)
  Atomics.wait(stage, 0, 1, 60_000)
  Atomics.wait(stage, 0, 2, until_ms - performance.now())
  const { ok, error, response } = await sent
  assert.deepEqual([ok, error, response?.body], [true, null, 'thanks'])
})

test('after the headers only the status counts: a slow, broken or invalid body is cut', async (t) => {
  // Only the drips last until the timeout. They begin in time on a busy machine, too.
  const { send } = sender(t)
  const drips_ms = 4000
  const endings: Record<string, (socket: Socket) => void> = {
    drips: (socket) => drip(socket, 'x'),
    reset: (socket) => void setTimeout(() => socket.resetAndDestroy(), 20),
    ended: (socket) => void setTimeout(() => socket.end(), 20),
  }
  for (const [status, ok] of [
    [200, true],
    [500, false],
  ] as const) {
    for (const [ending, how] of Object.entries(endings)) {
      let closed: Promise<unknown> | undefined
      const target = await tcpServer(t, (socket) => {
        closed = new Promise((resolve) => socket.once('close', resolve))
        socket.resume().write(`HTTP/1.1 ${status} X\r\ncontent-length: 1000\r\n\r\nbeginning `)
        how(socket)
      })
      const limit = ending === 'drips' ? { timeout_ms: drips_ms } : {}
      const { value: outcome, calm_ms } = await calmTime(() =>
        send({ ...message, url: target.url, ...limit }),
      )
      assert.deepEqual([outcome.ok, outcome.error?.code], [ok, ok ? undefined : 'http_error'], ending)
      assert.match(outcome.response?.body ?? '', /^beginning x*$/)
      assert.ok(calm_ms < (ending === 'drips' ? drips_ms : 1000) + 500, `${ending}: ${calm_ms} ms`)
      await closed
    }
  }
  const bad_chunk = await answering(
    t,
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\nnonsense\r\n',
  )
  const outcome = await send({ ...message, url: bad_chunk.url })
  assert.deepEqual([outcome.ok, outcome.response?.body], [true, 'ok'])
})

test('an answer that the request did not ask for is named in the error', async (t) => {
  const { send } = sender(t, { timeout_ms: 20_000 })
  for (const [bytes, named] of [
    ['HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n', /100 Continue/],
    ['HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n', /101 Switching/],
  ] as const) {
    const { url } = await answering(t, bytes)
    const { error } = await send({ ...message, url })
    assert.equal(error?.code, 'protocol_error')
    assert.match(error?.message ?? '', named)
  }
})

test('an endless response is cut at 16 KiB, and its connection is closed', async (t) => {
  for (const [status, ok] of [
    [200, true],
    [503, false],
  ] as const) {
    let written = 0
    let closed: Promise<unknown> | undefined
    const target = await tcpServer(t, (socket) => {
      closed = new Promise((resolve) => socket.once('close', resolve))
      socket.write(`HTTP/1.1 ${status} X\r\nx-a: b\r\n\r\n`)
      const chunk = Buffer.alloc(65_536, 'x')
      const pour = () => {
        while (!socket.destroyed && socket.write(chunk)) written += chunk.length
      }
      socket.on('drain', pour)
      pour()
    })
    const { value: outcome, calm_ms } = await calmTime(() =>
      sender(t, { timeout_ms: 20_000 }).send({ ...message, url: target.url }),
    )
    await closed
    assert.deepEqual([outcome.ok, outcome.response?.body], [ok, 'x'.repeat(limit)])
    assert.ok(calm_ms < 1000, `${calm_ms} ms`)
    assert.ok(written < 32 * 1024 * 1024, `${written} bytes were taken`)
  }
})

test('an answer of exactly 16 KiB is kept whole, and longer ones to that length', async (t) => {
  const target = await receiver(t)
  const { send } = sender(t)
  for (const length of [0, 1, limit - 1, limit, limit + 1, 10 * limit]) {
    target.answering = () => ({ body: 'y'.repeat(length) })
    const { response } = await send({ ...message, url: target.url })
    assert.equal(response?.body, 'y'.repeat(Math.min(length, limit)))
  }
})

test('what is kept of an answer is text that any database takes, of at most 16 KiB', async (t) => {
  const bodies: [Uint8Array, RegExp][] = [
    [Buffer.from('a\0b'), /^a\ufffdb$/],
    [Buffer.from([0x61, 0xff, 0xfe, 0x62, 0xed, 0xa0, 0x80]), /^a\ufffd\ufffdb\ufffd+$/],
    [Buffer.alloc(limit, 0xff), /^\ufffd+$/],
    [Buffer.alloc(limit), /^\ufffd+$/],
    [Buffer.from(`x${'é'.repeat(limit)}`), /^xé+$/],
    [Buffer.from(`xyz${'\u{1F600}'.repeat(limit)}`), /^xyz\u{1F600}+$/u],
  ]
  for (const [bytes, expected] of bodies) {
    const target = await answering(
      t,
      `HTTP/1.1 200 OK\r\ncontent-length: ${bytes.length}\r\nx-a: \xe9\r\n\r\n`,
      bytes,
    )
    const { response } = await sender(t).send({ ...message, url: target.url })
    const body = response?.body ?? ''
    assert.match(body, expected)
    assert.ok(Buffer.byteLength(body) <= limit && body.isWellFormed() && !body.includes('\0'))
  }
})

test('a request does not accept compression, and a compressed answer is never decompressed', async (t) => {
  const bomb = gzipSync(Buffer.alloc(5_000_000))
  const head = `HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`
  const target = await answering(t, head, bomb)
  const outcome = await sender(t).send({ ...message, url: target.url })
  assert.equal(outcome.ok, true)
  assert.equal(outcome.response?.headers['content-encoding'], 'gzip')
  assert.ok(Buffer.byteLength(outcome.response.body) <= limit)
  assert.equal(outcome.request.headers['accept-encoding'], 'identity')
})

test('an answer that is not valid HTTP, or has headers over 16 KiB, is a protocol_error', async (t) => {
  const answers = {
    nonsense: 'SSH-2.0-OpenSSH_9.6\r\n',
    html: '<!doctype html><p>hello',
    status: 'HTTP/1.1 abc OK\r\n\r\n',
    version: 'HTTP/9.9 200 OK\r\n\r\n',
    header: 'HTTP/1.1 200 OK\r\nno colon here\r\n\r\n',
    lengths: 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n',
    smuggling: 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    upgrade: 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
    large: `HTTP/1.1 200 OK\r\nx-large: ${'x'.repeat(limit)}\r\n\r\n`,
    many: `HTTP/1.1 200 OK\r\n${'x-many: 12345678\r\n'.repeat(2000)}\r\n`,
  }
  const { send } = sender(t, { timeout_ms: 20_000 })
  for (const [what, bytes] of Object.entries(answers)) {
    const { url } = await answering(t, bytes)
    const { value: outcome, calm_ms } = await calmTime(() => send({ ...message, url }))
    assert.deepEqual([outcome.error?.code, outcome.response], ['protocol_error', null], what)
    assert.ok(calm_ms < 1000, `${what}: ${calm_ms} ms`)
  }
})

test('informational answers come before the real one and do not count', async (t) => {
  const hints = 'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n'.repeat(3)
  const target = await answering(t, `${hints}HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok`)
  const outcome = await sender(t).send({ ...message, url: target.url })
  assert.deepEqual([outcome.response?.status, outcome.response?.body], [200, 'ok'])
})

test('a connection that closes without an answer is a connection_reset, tried once', async (t) => {
  const endings = [(socket: Socket) => socket.end(), (socket: Socket) => socket.resetAndDestroy()]
  for (const end of endings) {
    const target = await tcpServer(t, (socket) => onRequest(socket, () => end(socket)))
    const outcome = await sender(t).send({ ...message, url: target.url })
    assert.deepEqual([outcome.error?.code, outcome.response], ['connection_reset', null])
    assert.equal(target.connections(), 1)
  }
})

test('receivers that hang do not delay others', async (t) => {
  const silent = await receiver(t, { answer: 'hang' })
  const healthy = await receiver(t)
  const { send } = sender(t)
  let ended = 0
  const hanging = Array.from({ length: 50 }, () =>
    send({ ...message, url: silent.url }).finally(() => ended++),
  )
  const outcome = await send({ ...message, url: healthy.url })
  assert.deepEqual([outcome.ok, ended], [true, 0], 'it waited for one of them')
  await silent.waitFor(50)
  silent.drop()
  for (const { error } of await Promise.all(hanging)) assert.equal(error?.code, 'connection_reset')
})

test('whatever is asked of it, send answers with an outcome', async (t) => {
  const target = await receiver(t)
  const made = sender(t)
  const requests: AttemptRequest[] = [
    { ...message, url: 'nonsense' },
    { ...message, url: 'ftp://127.0.0.1/' },
    { ...message, url: 'http://[::1' },
    { ...message, url: target.url, headers: { 'X-Service-Event': 'two\r\nlines' } },
    { ...message, url: target.url, headers: { 'bad name': 'x' } },
  ]
  for (const request of requests) {
    const { error, ok, response } = await made.send(request)
    assert.deepEqual([error?.code, ok, response], ['protocol_error', false, null])
  }
  await made.close()
  assert.equal((await made.send({ ...message, url: target.url })).error?.code, 'protocol_error')
  assert.equal(target.received.length, 0)
})

test('the start is read from the given clock, and a jump of it does not change the duration', async (t) => {
  const target = await receiver(t)
  let hour = 0
  const { send } = sender(t, { now: () => hour++ * 3_600_000 })
  const { value: outcomes, took_ms } = await calmTime(async () => [
    await send({ ...message, url: target.url }),
    await send({ ...message, url: target.url }),
  ])
  assert.deepEqual(
    outcomes.map(({ started_at_ms }) => started_at_ms),
    [0, 3_600_000],
  )
  for (const { duration_ms } of outcomes)
    assert.ok(Number.isInteger(duration_ms) && duration_ms <= Math.ceil(took_ms))
})

test('the ten error codes of the log are the documented ones', () => {
  const documented =
    'timeout, dns_error, connection_refused, connection_reset, tls_error, protocol_error, address_blocked, redirect_not_followed, http_error, interrupted'
  assert.equal(attempt_error_codes.join(', '), documented)
})
