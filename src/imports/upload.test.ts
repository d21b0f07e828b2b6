// runs: once
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises'
import { bodyParts } from './upload.ts'

const silence_ms = 300
const size = 512 * 1024

/** Reads the body of one request, with work after each part; returns its bytes, and the request. */
async function startReader(t: TestContext, work: () => unknown) {
  const read = Promise.withResolvers<number>()
  const server = createServer(async (request: IncomingMessage, response) => {
    try {
      let bytes = 0
      for await (const part of bodyParts(request, silence_ms)) {
        bytes += part.length
        await work()
      }
      read.resolve(bytes)
      response.end()
    } catch (error) {
      read.reject(error)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const headers = { 'content-length': size }
  const sent = httpRequest({ port, host: '127.0.0.1', method: 'POST', headers }).on('error', () => {})
  t.after(() => {
    sent.destroy()
    server.closeAllConnections()
    server.close()
  })
  return { sent, bytes: read.promise }
}

test('work of the service between two parts of a body is not silence of its client', async (t) => {
  let works = 0
  const work = () => (works++ < 3 ? pause(2 * silence_ms) : undefined)
  const { sent, bytes } = await startReader(t, work)
  sent.end(Buffer.alloc(size))
  assert.equal(await bytes, size)
})

test('work that holds the event loop while a body arrives is not silence of its client', async (t) => {
  const { sent, bytes } = await startReader(t, () => {})
  sent.write(Buffer.alloc(size / 2))
  await pause(20)
  // After a turn of its own, due timers run before the rest of the body is read.
  await turn()
  sent.end(Buffer.alloc(size / 2))
  for (const until_ms = performance.now() + 2 * silence_ms; performance.now() < until_ms; );
  assert.equal(await bytes, size)
})

test('a client that sends nothing while the service waits for its body is disconnected', async (t) => {
  const { sent, bytes } = await startReader(t, () => {})
  sent.write(Buffer.alloc(size / 2))
  await assert.rejects(bytes, /The body stopped arriving/)
})
