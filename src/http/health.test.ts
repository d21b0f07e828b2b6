import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { openScratch, removeScratch } from '../../test/engine.ts'
import { refused } from '../../test/envelope.ts'
import { client, type Rapport, startRapport } from '../../test/harness.ts'
import type { Database } from '../db/db.ts'
import { healthRoutes, type Phase } from './health.ts'
import { createMetrics } from './metrics.ts'
import { type App, createServer } from './server.ts'

let phase: Phase = 'starting'
let database: Database
let app: App
let call: ReturnType<typeof client>
const folder = mkdtempSync(join(tmpdir(), 'rapport-test-'))
before(async () => {
  database = await openScratch(folder)
  app = createServer(undefined)
  const metrics = createMetrics(
    async () => ({
      due: 3,
      in_flight: 2,
      failed: 1,
      oldest_due_seconds: 0.5,
      paused: 4,
      oldest_paused_seconds: 9,
      fanouts: 0,
      oldest_work_seconds: { backfill: 7 },
    }),
    () => ({ held: false, put_off: 0, durable: true }),
    { lines: () => [] },
  )
  metrics.watch(app)
  healthRoutes(app, { db: database.db, phase: () => phase, metrics })
  app.get('/work', async () => ({ success: true }))
  call = client(await app.listen({ port: 0, host: '127.0.0.1' }), null)
})
after(async () => {
  await app.close()
  await removeScratch(folder)
})

test('while starting and stopping, readiness and all work are 503 with Retry-After; liveness and metrics answer', async () => {
  for (const now of ['starting', 'stopping'] as const) {
    phase = now
    for (const at of ['/readyz', '/work']) {
      const reply = await call('GET', at)
      assert.ok(refused(reply, 503, 'unavailable').message.includes(now))
      assert.equal(reply.headers.get('retry-after'), '1')
    }
    assert.deepEqual((await call('GET', '/healthz')).body, { success: true, data: { status: 'ok' } })
    assert.equal((await call('GET', '/metrics')).status, 200)
  }
})

test('a served request while stopping closes its connection, so that the client goes elsewhere', async () => {
  phase = 'stopping'
  assert.equal((await call('GET', '/work')).headers.get('connection'), 'close')
})

test('once ready, both probes are 200 in the envelope and need no key', async () => {
  phase = 'ready'
  assert.deepEqual((await call('GET', '/readyz')).body, { success: true, data: { status: 'ready' } })
  assert.deepEqual((await call('GET', '/healthz')).body, { success: true, data: { status: 'ok' } })
  assert.equal((await call('GET', '/work')).status, 200)
})

test('metrics count requests by route and status, with the latency and the queue', async (t) => {
  const rapport: Rapport = await startRapport()
  t.after(rapport.close)
  const { id } = (await rapport.call('POST', '/api/v1/companies', { name: 'Acme' })).body.data
  await rapport.call('GET', `/api/v1/companies/${id}`)
  await rapport.call('GET', '/api/v1/companies/999')
  await rapport.call('GET', '/none')
  const { text, headers } = await rapport.call('GET', '/metrics')
  assert.match(headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/)
  const value = (line: string) =>
    Number(
      text
        .split('\n')
        .find((one) => one.startsWith(line))
        ?.split(' ')
        .at(-1),
    )
  const requests = (method: string, route: string, status: number) =>
    value(`rapport_http_requests_total{method="${method}",route="${route}",status="${status}"}`)
  assert.equal(requests('POST', '/api/v1/companies', 201), 1)
  assert.equal(requests('GET', '/api/v1/companies/:id', 200), 1)
  assert.equal(requests('GET', '/api/v1/companies/:id', 404), 1)
  // A path that does not exist is none of its own: anybody could fill the memory with names.
  assert.equal(requests('GET', 'unknown', 404), 1)
  assert.ok(!text.includes('/none'))
  assert.equal(value('rapport_http_request_seconds_count{method="GET",route="/api/v1/companies/:id"}'), 2)
  for (const name of [
    'due',
    'in_flight',
    'failed',
    'oldest_due_seconds',
    'paused',
    'oldest_paused_seconds',
    'fanouts',
  ])
    assert.equal(value(`rapport_deliveries_${name} `), 0)
})

test('without its database the service is not ready, but alive', async () => {
  phase = 'ready'
  await database.close()
  refused(await call('GET', '/readyz'), 503, 'unavailable')
  assert.equal((await call('GET', '/healthz')).status, 200)
})
