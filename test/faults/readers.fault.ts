import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { client } from '../harness.ts'
import { makeKey } from '../keys.ts'
import { scratchFolder } from '../process.ts'
import { exchange } from '../raw-http.ts'
import { until } from '../webhooks.ts'
import { type Noise, startIdle, tellNoise, type Waits, waitsDuring } from './idle.ts'
import { report } from './report.ts'
import { type Service, startService } from './service.ts'
import { smallMemory } from './small-memory.ts'

const mebibyte = 1024 * 1024
const api = '/api/v1'
const longest_text = 65_535

/** A process of its own within so much memory; its end fails the test. */
async function startSmall(t: TestContext, megabytes: number) {
  const memory = smallMemory(megabytes)
  const { within, env } = memory
  const service = await startService(scratchFolder(t), { within, env })
  let ended = false
  void service.exited.then(() => {
    ended = true
  })
  t.after(async () => {
    await service.end('SIGKILL')
    memory.remove()
  })
  const isAlive = () => assert.ok(!ended, `the service ended: ${service.complaints()}`)
  return { service, memory, isAlive }
}

async function done({ call }: Service, method: string, path: string, body: object) {
  const reply = await call(method, api + path, body)
  assert.ok(reply.status < 300, reply.text.slice(0, 300))
  return reply.body.data
}

/** Events of half a megabyte, and a contact whose notes are more than one answer may have. */
async function fill(service: Service) {
  const times = { start_at: '2030-01-08T12:00:00Z', end_at: '2030-01-08T13:00:00Z' }
  const { id } = await done(service, 'POST', '/appointments', { title: 'Demo', ...times })
  for (let n = 0; n < 100; n++)
    await done(service, 'PUT', `/appointments/${id}`, { notes: (n % 2 ? '🙂' : '🙃').repeat(longest_text) })
  const contact = await done(service, 'POST', '/contacts', { first_name: 'Ana', last_name: 'Ruiz' })
  for (let n = 0; n < 50; n++)
    await done(service, 'POST', `/contacts/${contact.id}/notes`, { body: '長'.repeat(longest_text) })
  return { events: `${api}/events?per_page=100`, notes: `${api}/contacts/${contact.id}/notes` }
}

const request = ({ key }: Pick<Service, 'key'>, path: string) =>
  `GET ${path} HTTP/1.1\r\nHost: rapport.example\r\nAuthorization: Bearer ${key}\r\n\r\n`

/** Opens a connection that reads nothing of what it asks for. */
async function silent(t: TestContext, { url }: Service, text: string): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  t.after(() => socket.destroy())
  socket.pause()
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(text)
  return socket
}

/** Health has to be answered within 100 ms, beside what the machine adds to each answer. */
function judgeHealth({ service, noise }: { service: Waits; noise: Noise }): string {
  const { middle_ms, most_ms } = service
  const figures = `health ${middle_ms.toFixed()} ms, at most ${most_ms.toFixed()} ms; ${tellNoise(noise)}`
  assert.ok(middle_ms < 100 * noise.stretch, figures)
  return figures
}

for (const megabytes of [256, 512])
  test(`16 reads of the largest pages at once, and 30 connections that read nothing, fit into ${megabytes} MB of memory`, async (t) => {
    const { service, memory, isAlive } = await startSmall(t, megabytes)
    const { events, notes } = await fill(service)
    // Of a key each: 16 MiB for one caller would keep the process below its 64 MiB.
    const keys: string[] = []
    for (let n = 0; n < 30; n++) keys.push((await makeKey(service)).token)
    const answered: number[] = []
    async function read(path: string, key = '') {
      const reply = await client(service.url, key)('GET', path)
      answered.push(reply.status)
      if (reply.status === 503) return assert.equal(reply.headers.get('retry-after'), '1')
      assert.equal(reply.status, 200)
      assert.ok(Buffer.byteLength(reply.text) <= 8 * mebibyte)
    }
    for (let round = 0; round < 4; round++)
      await Promise.all(Array.from({ length: 16 }, (_, n) => read(n % 2 ? events : notes, keys[n])))
    isAlive()
    assert.ok(answered.filter((status) => status === 200).length >= 32, `${answered}`)

    const sockets = await Promise.all(
      keys.map((key) => silent(t, service, request({ key }, notes).repeat(50))),
    )
    const closed = Promise.all(sockets.map((socket) => once(socket, 'close')))
    const idle = await startIdle(t)
    const health = judgeHealth(await waitsDuring(service.url, idle, () => pause(5000)))
    isAlive()
    // Answers that are not read are dropped after 30 s. Then all clients are answered again.
    await pause(35_000)
    for (const socket of sockets) socket.resume()
    await closed
    await until(async () => (await service.call('GET', notes)).status, 200)
    isAlive()
    const most = memory.most_megabytes()
    const figures = `64 reads and 30 silent connections in ${megabytes} MB (${memory.by}), at most ${most} MB; ${health}`
    report({ fault: 47, figures })
    t.diagnostic(figures)
  })

test('with 10,000 idle connections, slow uploads and slow readers, health is answered within 100 ms', async (t) => {
  const { service, isAlive } = await startSmall(t, 512)
  const { notes } = await fill(service)
  const idle = await startIdle(t)
  const opening = Array.from({ length: 100 }, async () => {
    for (let n = 0; n < 100; n++) await silent(t, service, '')
  })
  await Promise.all(opening)
  const head = `POST ${api}/companies HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${service.key}\r\n`
  const uploads = await Promise.all(
    Array.from({ length: 100 }, () =>
      silent(t, service, `${head}Content-Type: application/json\r\nContent-Length: 900000\r\n\r\n{`),
    ),
  )
  for (let n = 0; n < 20; n++) {
    const { token: key } = await makeKey(service)
    const socket = await silent(t, service, request({ key }, notes))
    socket.on('data', () => {
      socket.pause()
      setTimeout(() => socket.resume(), 50)
    })
    socket.resume()
  }
  const drip = async () => {
    for (let n = 0; n < 100; n++) {
      for (const socket of uploads) socket.write(' ')
      await pause(50)
    }
  }
  const health = judgeHealth(await waitsDuring(service.url, idle, drip))
  isAlive()
  const [refused] = await exchange(
    service.url,
    `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`,
  )
  assert.equal(refused?.status, 431)
  assert.equal((await service.call('POST', `${api}/companies`, { name: 'Acme' })).status, 201)
  const figures = `10,000 idle connections, 100 slow uploads, 20 slow readers; ${health}`
  report({ fault: 47, figures })
  t.diagnostic(figures)
})
