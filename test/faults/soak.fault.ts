import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { readStored } from '../database.ts'
import { scratchFolder } from '../process.ts'
import { startReceiver, startTcpServer } from '../receiver.ts'
import { register, total, until } from '../webhooks.ts'
import { report } from './report.ts'
import { startService } from './service.ts'
import { createLoad } from './soak/load.ts'
import { growth, type Sample, takeSample } from './soak/samples.ts'

// npm run faults -- soak --minutes 30
const minutes = Number(process.env.SOAK_MINUTES ?? 1)

// The limits of growth after the first fifth of the run, by linear fit. Memory outside of the heap includes what the
// allocator keeps after its peak, so its limit is higher.
const bounds = { heap_mb: 16, rss_mb: 128, handles: 20 }
// These keep what happened, for as many days as the settings say. Nothing else may grow with requests.
const kept = [
  'events',
  'webhook_deliveries',
  'webhook_attempts',
  'audit_log',
  'audit_entries',
  'deal_stages',
  'deal_stage_changes',
  'idempotency_keys',
]
const most_rows = 200
const most_pending = 2000
// Failing receivers get these events at a fixed rate, which they can keep up with however fast the service is.
const win_every_ms = 5000

test('a soak at half load with failing receivers: memory, handles, the queue and tables without a log do not grow', async (t) => {
  const data_dir = scratchFolder(t)
  const probe = join(data_dir, 'probe')
  writeFileSync(probe, '{"reading":0}')
  const service = await startService(data_dir, {
    env: {
      LOG_LEVEL: 'fatal',
      WEBHOOK_TIMEOUT_MS: '1000',
      WEBHOOK_RETRY_DELAYS: '1,2,4',
      SOAK_PROBE: probe,
      NODE_OPTIONS: `--import ${new URL('soak/probe.ts', import.meta.url)}`,
    },
  })
  t.after(() => service.end('SIGKILL'))
  const { call } = service
  const well = await startReceiver()
  const failing = await startReceiver({ answer: () => ({ status: 500, body: 'x'.repeat(20_000) }) })
  const hanging = await startReceiver({ answer: 'hang' })
  const resetting = await startTcpServer((socket) => socket.resetAndDestroy())
  t.after(() => Promise.all([well, failing, hanging, resetting].map((one) => one.close())))
  await register(call, {
    url: well.url,
    events: ['contact.updated', 'company.updated', 'deal.updated', 'deal.stage_changed'],
  })
  // The hanging receiver takes 4 s for each event, at one attempt at a time.
  for (const { url } of [failing, hanging, resetting]) await register(call, { url, events: ['deal.won'] })
  const load = await createLoad(call)
  const { per_second, every_ms } = await load.halfLoad(Math.min(10_000, minutes * 10_000))

  const stored = await readStored(data_dir)
  t.after(() => stored.close())
  const samples: Sample[] = []
  const start = performance.now()
  const end = start + minutes * 60_000
  const running = Promise.all([load.run(end, every_ms), load.win(end, win_every_ms)])
  let at = start + (end - start) / 5
  while (at < end) {
    await pause(Math.max(0, at - performance.now()))
    samples.push(await takeSample(service.pid, probe, stored, load.requests()))
    well.received.length = failing.received.length = hanging.received.length = 0
    at = performance.now() + (end - start) / 30
  }
  await running
  hanging.drop()
  hanging.answering = () => ({})
  await until(() => total(call, 'status=pending'), 0, 120_000)
  samples.push(await takeSample(service.pid, probe, stored, load.requests()))
  judge(samples, per_second, t.diagnostic.bind(t))
  assert.equal(load.refused(), 0)
  assert.equal(await service.end('SIGTERM'), 0)
})

function judge(samples: Sample[], per_second: number, tell: (text: string) => void) {
  const first = samples[0] as Sample
  const last = samples.at(-1) as Sample
  const grown = {
    heap_mb: growth(samples, ({ heap_mb }) => heap_mb),
    rss_mb: growth(samples, ({ rss_mb }) => rss_mb),
    handles: growth(samples, ({ handles }) => handles),
  }
  const requests = last.requests - first.requests
  const tables = Object.keys(last.rows)
    .map((name) => ({ name, rows: (last.rows[name] ?? 0) - (first.rows[name] ?? 0) }))
    .filter(({ rows }) => rows !== 0)
  const pending = Math.max(...samples.map(({ rows }) => rows.webhook_queue ?? 0))
  const figures =
    `${minutes} min at ${per_second.toFixed(0)} requests/s: heap ${last.heap_mb.toFixed(0)} MB (${signed(grown.heap_mb)}), ` +
    `RSS without mapped files ${last.rss_mb.toFixed(0)} MB (${signed(grown.rss_mb)}), ${last.handles} handles (${signed(grown.handles)}), at most ${pending} pending`
  tell(figures)
  for (const { name, rows } of tables)
    tell(`${name}: ${rows} rows more, ${((1000 * rows) / requests).toFixed(1)} for 1,000 requests`)
  report({ fault: 'soak', figures })
  for (const [name, most] of Object.entries(bounds))
    assert.ok(grown[name as keyof typeof grown] <= most, `${name}: ${figures}`)
  assert.ok(pending <= most_pending, figures)
  assert.equal(last.rows.webhook_queue, 0)
  const grew = tables.filter(({ name, rows }) => rows > most_rows && !kept.includes(name))
  assert.deepEqual(grew, [], 'tables that grow with requests')
}

const signed = (value: number) => `${value < 0 ? '' : '+'}${value.toFixed(1)}`
