// runs: once
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { exchange } from '../../test/raw-http.ts'
import { until } from '../../test/webhooks.ts'
import { createServer } from './server.ts'

const mebibyte = 1024 * 1024

/** A server with a route that answers 8 MB, and what it has at work at the same time. */
async function startLarge(t: TestContext, { write_ms = 30_000, max_bytes_at_once = 64 * mebibyte } = {}) {
  const app = createServer(undefined, { write_ms, max_bytes_at_once })
  // Replaces the gate: sets the caller.
  app.addHook('onRequest', async (request) => {
    const { caller } = request.headers
    if (caller) Object.assign(request, { access: { id: caller, actor: { kind: 'key' } } })
  })
  const text = 'x'.repeat(8 * mebibyte - 100)
  const at_work = { now: 0, most: 0, all: 0 }
  app.get('/large', async () => {
    at_work.all++
    at_work.most = Math.max(at_work.most, ++at_work.now)
    await pause(1)
    at_work.now--
    return text
  })
  app.get('/small', async () => ({ success: true }))
  app.get('/medium', async () => text.slice(0, 100_000))
  t.after(() => {
    app.server.closeAllConnections()
    return app.close()
  })
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  return { url, at_work }
}

const request = (path: string, caller = '') =>
  `GET ${path} HTTP/1.1\r\nHost: rapport.example\r\n${caller && `Caller: ${caller}\r\n`}\r\n`
const statusFor = async (url: string, caller: string) =>
  (await fetch(`${url}/large`, { headers: { caller } })).status

/** Waits until a caller's large answer is refused: the readers before it hold what there is. */
async function refusal(url: string, caller = ''): Promise<Response> {
  const ask = () => fetch(`${url}/large`, { headers: caller ? { caller } : {} })
  return until(
    async () => {
      const response = await ask()
      // An answer that is read to its end gives its bytes back.
      if (response.ok) await response.arrayBuffer()
      return response
    },
    { status: 503 },
  )
}

/** Opens a connection that sends a text and does not read. */
async function silent(t: TestContext, url: string, text: string): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  t.after(() => socket.destroy())
  socket.pause()
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(text)
  return socket
}

test('a connection that reads nothing is closed after the write timeout, and its bytes are free again', async (t) => {
  const { url, at_work } = await startLarge(t, { write_ms: 2000, max_bytes_at_once: 9 * mebibyte })
  const socket = await silent(t, url, request('/large'))
  await until(async () => at_work.all, 1)
  const status = async () => (await fetch(`${url}/large`)).status
  // The caller may have one answer in flight, and the client does not read it.
  await until(status, 503)
  await until(status, 200)
  // The bytes in the system's buffers arrive, and then the connection ends before the answer is complete.
  let received = 0
  socket.on('data', (bytes) => {
    received += bytes.length
  })
  socket.resume()
  await once(socket, 'close')
  assert.ok(received < 8 * mebibyte, `${received}`)
})

test('a client that reads slowly gets its whole answer, after any time', async (t) => {
  const write_ms = 1200
  const { url } = await startLarge(t, { write_ms })
  const socket = await silent(t, url, request('/large'))
  const began = performance.now()
  let received = 0
  socket.on('data', (bytes) => {
    received += bytes.length
    socket.pause()
    setTimeout(() => socket.resume(), 25)
  })
  socket.resume()
  await until(
    async () => received,
    (n) => n > 8 * mebibyte - 100,
  )
  assert.ok(performance.now() - began > 2 * write_ms, 'it was not slow')
})

test('requests that are sent ahead on one connection are answered one after the other, in their order', async (t) => {
  const { url, at_work } = await startLarge(t)
  const replies = await exchange(url, request('/large').repeat(4) + request('/small') + request('/none'), {
    count: 6,
  })
  assert.deepEqual(
    replies.map(({ status }) => status),
    [200, 200, 200, 200, 200, 404],
  )
  assert.equal(at_work.most, 1)
})

test('a connection that reads nothing holds one answer, however many requests it sends', async (t) => {
  const { url, at_work } = await startLarge(t)
  await silent(t, url, request('/large').repeat(50))
  await until(
    async () => at_work.all,
    (n) => n > 0,
  )
  // Others are served meanwhile: the loop has had its turns.
  for (let n = 0; n < 20; n++) assert.equal((await fetch(`${url}/small`)).status, 200)
  assert.equal(at_work.all, 1)
})

test('a connection that sends more than a hundred requests ahead is cut off', async (t) => {
  const { url } = await startLarge(t)
  const socket = await silent(t, url, request('/medium').repeat(200))
  socket.resume()
  await once(socket, 'close')
  assert.equal((await fetch(`${url}/small`)).status, 200)
})

test('the total of large unread answers is limited: the next one is 503, a small one is answered', async (t) => {
  const { url } = await startLarge(t, { max_bytes_at_once: 30 * mebibyte })
  const readers = []
  for (let n = 0; n < 10; n++) readers.push(await silent(t, url, request('/large', `key ${n}`)))
  const refused = await refusal(url)
  assert.equal(refused.headers.get('retry-after'), '1')
  const { error } = (await refused.json()) as { error: { code: string } }
  assert.equal(error.code, 'unavailable')
  assert.equal((await fetch(`${url}/small`)).status, 200)
  for (const socket of readers) socket.destroy()
  await until(async () => (await fetch(`${url}/large`)).status, 200)
})

test('a caller whose slow readers hold 16 MiB is refused; other keys and addresses get their large answers', async (t) => {
  const { url } = await startLarge(t)
  const readers = []
  for (let n = 0; n < 8; n++) readers.push(await silent(t, url, request('/large', 'slow')))
  const refused = await refusal(url, 'slow')
  assert.equal(refused.headers.get('retry-after'), '1')
  assert.equal((await fetch(`${url}/small`, { headers: { caller: 'slow' } })).status, 200)
  assert.equal(await statusFor(url, 'other'), 200)
  // Without a key the address is the caller.
  assert.equal((await fetch(`${url}/large`)).status, 200)
  for (let n = 0; n < 2; n++) await silent(t, url, request('/large'))
  await refusal(url)
  assert.equal(await statusFor(url, 'other'), 200)
  for (const socket of readers) socket.destroy()
  await until(() => statusFor(url, 'slow'), 200)
})

test('an answer that is larger than 8 MiB is never sent', async (t) => {
  const app = createServer(undefined)
  app.get('/', async () => 'x'.repeat(8 * mebibyte + 1))
  t.after(() => app.close())
  const answer = await fetch(await app.listen({ port: 0, host: '127.0.0.1' }))
  assert.equal(answer.status, 500)
  const { error } = (await answer.json()) as { error: { code: string } }
  assert.equal(error.code, 'internal_error')
})
