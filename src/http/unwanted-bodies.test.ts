// runs: once
import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { exchange, type RawReply, takeResponse } from '../../test/raw-http.ts'
import { notFound, unauthorized } from '../errors.ts'
import { createServer } from './server.ts'

const kibibyte = 1024
const most_unread = 64 * kibibyte
// One read of the system has the head and the begin of the body.
const first_read = 64 * kibibyte
const endless = 2 ** 40

async function startService(t: TestContext) {
  const app = createServer(undefined)
  const sockets = new Map<number | undefined, Socket>()
  app.server.on('connection', (socket) => sockets.set(socket.remotePort, socket))
  const refuse = async () => Promise.reject(unauthorized())
  const refuseAtOnce = () => {
    throw notFound('x')
  }
  app.post('/early', { onRequest: refuse }, async () => ({}))
  app.post('/at-once', { onRequest: refuseAtOnce }, async () => ({}))
  app.post('/body', async ({ raw_body }) => ({ bytes: raw_body?.length ?? 0 }))
  app.get('/body', async () => ({ bytes: 0 }))
  t.after(() => {
    app.server.closeAllConnections()
    return app.close()
  })
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  return { url, port: Number(new URL(url).port), sockets }
}

type Request = { line: string; length?: number | undefined; head?: string; type?: string }

const headOf = ({ line, length, head = '', type = 'application/json' }: Request) =>
  `${line} HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\n${length === undefined ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`}\r\n${head}\r\n`

/** Sends a body until the server ends the connection, and reads meanwhile. */
async function flood(port: number, request: Request) {
  const socket = connect(port, '127.0.0.1')
  const part = Buffer.alloc(256 * kibibyte, ' ')
  const chunk = Buffer.concat([Buffer.from('40000\r\n'), part, Buffer.from('\r\n')])
  const sent = request.length === undefined ? chunk : part
  const send = () => {
    while (socket.writable && socket.write(sent));
  }
  let arrived: Buffer = Buffer.alloc(0)
  socket
    .on('error', () => {})
    .on('drain', send)
    .on('data', (bytes) => {
      arrived = Buffer.concat([arrived, bytes])
    })
  await new Promise<void>((resolve) => socket.once('connect', resolve))
  const { localPort } = socket
  socket.write(headOf(request))
  send()
  await new Promise((resolve) => socket.once('close', resolve))
  return { reply: takeResponse(arrived, false)?.reply as RawReply, localPort }
}

test('of a body that is refused at most 64 KiB are read, then the connection ends; the client has the answer', async (t) => {
  const { port, sockets } = await startService(t)
  const cases: (Request & { status: number; read?: number })[] = [
    { line: 'POST /early', status: 401 },
    { line: 'POST /at-once', status: 404 },
    { line: 'POST /nowhere', status: 404 },
    { line: 'PUT /body', status: 405 },
    { line: 'POST /body', status: 413, read: 16 * kibibyte },
    { line: 'POST /body', status: 415, type: 'text/csv' },
    { line: 'POST /%', status: 400 },
    { line: 'GET /body', status: 200 },
  ]
  const floods = cases.flatMap((one) => [endless, undefined].map((length) => ({ ...one, length })))
  await Promise.all(
    floods.map(async ({ status, read = 0, ...request }) => {
      const { reply, localPort } = await flood(port, request)
      const name = JSON.stringify(request)
      assert.equal(reply?.status, status, name)
      assert.equal(reply.headers.get('connection'), 'close', name)
      const { bytesRead, destroyed } = sockets.get(localPort) as Socket
      assert.ok(bytesRead <= first_read + read + most_unread, `${name}: ${bytesRead} bytes were read`)
      assert.ok(destroyed, name)
    }),
  )
})

test('a refused body of at most 64 KiB keeps the connection: the next request on it is answered', async (t) => {
  const { url } = await startService(t)
  for (const line of ['POST /early', 'POST /at-once', 'POST /body', 'GET /body']) {
    const body = ' '.repeat(most_unread)
    const replies = await exchange(
      url,
      `${headOf({ line, length: most_unread })}${body}GET /body HTTP/1.1\r\nHost: x\r\n\r\n`,
      { count: 2 },
    )
    const expected =
      line === 'POST /body' ? [413] : [line.startsWith('GET') ? 200 : line.endsWith('early') ? 401 : 404, 200]
    assert.deepEqual(
      replies.map(({ status }) => status),
      expected,
    )
  }
})

test('a client that waits for 100 Continue sends no body that is refused', async (t) => {
  const { url } = await startService(t)
  const head = 'Expect: 100-continue\r\n'
  for (const [line, length, status] of [
    ['POST /early', 5, 401],
    ['POST /nowhere', 5, 404],
    ['POST /body', endless, 413],
    ['POST /early', undefined, 401],
  ] as const) {
    const [reply] = await exchange(url, headOf({ line, length, head }))
    assert.equal(reply?.status, status)
    assert.equal(reply.headers.get('connection'), 'close')
  }
  const replies = await exchange(url, headOf({ line: 'POST /body', length: 2, head }), {
    count: 2,
    opened: (socket) => socket.once('data', () => socket.write('{}')),
  })
  assert.deepEqual(
    replies.map(({ status, body }) => [status, body]),
    [
      [100, ''],
      [200, { bytes: 2 }],
    ],
  )
})
