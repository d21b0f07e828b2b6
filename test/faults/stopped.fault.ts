import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { engine } from '../engine.ts'
import { beside } from '../keys.ts'
import { scratchFolder } from '../process.ts'
import { company, register, until } from '../webhooks.ts'
import { report } from './report.ts'
import { startService } from './service.ts'

// The lease of an attempt is 30 s longer than the attempt may take.
const timeout_ms = 1000
const lease_ms = timeout_ms + 30_000

/** The worker that holds the connection with this port of its own. */
function ownerOf(port: number, parent: number): number {
  const workers = readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8')
    .trim()
    .split(' ')
    .map(Number)
  const hex = port.toString(16).toUpperCase().padStart(4, '0')
  const line = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((text) => text.trim().split(/\s+/))
    .find(([, local]) => local?.endsWith(`:${hex}`))
  const socket = `socket:[${line?.[9]}]`
  const holds = (pid: number) =>
    readdirSync(`/proc/${pid}/fd`).some((fd) => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${fd}`) === socket
      } catch {
        return false
      }
    })
  const owner = workers.find(holds)
  assert.ok(owner, `one of the workers ${workers} has the connection of port ${port}`)
  return owner
}

/** Everything that is known of the only delivery. */
const stored = (data_dir: string) =>
  beside(data_dir, async (db) => ({
    deliveries: await db.selectFrom('webhook_deliveries').selectAll().execute(),
    queue: await db.selectFrom('webhook_queue').selectAll().execute(),
    attempts: await db.selectFrom('webhook_attempts').selectAll().execute(),
    webhooks: await db.selectFrom('webhooks').select(['status', 'status_reason']).execute(),
  }))

test('SIGSTOP of a worker past its lease, then SIGCONT: its late outcome changes nothing', async (t) => {
  const requests: { at_ms: number; port: number; response: ServerResponse }[] = []
  const server = createServer((request, response) => {
    requests.push({ at_ms: performance.now(), port: request.socket.remotePort as number, response })
    // The first attempt is never answered. The second one fails, and is due again in an hour.
    if (requests.length > 1) response.writeHead(500).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close().closeAllConnections())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const data_dir = scratchFolder(t)
  const env = { WEB_CONCURRENCY: '2', WEBHOOK_TIMEOUT_MS: String(timeout_ms), WEBHOOK_RETRY_DELAYS: '3600' }
  const service = await startService(data_dir, { env })
  t.after(() => service.end('SIGKILL'))
  await register(service.call, { url })
  await company(service.call)
  await until(async () => requests.length, 1)
  const [first] = requests
  const owner = ownerOf(first!.port, service.pid)
  process.kill(owner, 'SIGSTOP')
  t.after(() => process.kill(owner, 'SIGCONT'))

  await until(async () => requests.length, 2, lease_ms + 20_000)
  const waited_ms = requests[1]!.at_ms - first!.at_ms
  assert.ok(waited_ms > lease_ms - 500, 'not before the lease was over')
  await until(
    () => stored(data_dir),
    ({ queue }) => queue[0]?.claim_id === null && queue[0].tries === 1,
  )
  const before = await stored(data_dir)
  assert.equal(before.deliveries[0]?.attempt_count, 1)

  // The worker continues. Its attempt has timed out meanwhile.
  const closed = once(first!.response, 'close')
  process.kill(owner, 'SIGCONT')
  await closed
  const limit_ms = performance.now() + 3000
  while (performance.now() < limit_ms) {
    assert.deepEqual(await stored(data_dir), before)
    await pause(50)
  }
  const figures = `sent again after ${(waited_ms / 1000).toFixed(1)} s, 0 rows changed by the late outcome`
  t.diagnostic(`${engine}: ${figures}`)
  report({ fault: 24, figures })
})
