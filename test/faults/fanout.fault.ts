import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { readStored } from '../database.ts'
import { dataOf } from '../envelope.ts'
import { scratchFolder } from '../process.ts'
import { act, type Call, register, total, until } from '../webhooks.ts'
import { limitBeside, startIdle, tellNoise, waitsDuring } from './idle.ts'
import { report } from './report.ts'
import { startService } from './service.ts'

const webhooks = 60
const companies = 1000
const count = webhooks * companies
const limit_ms = 300_000

/** Registers webhooks with 20 conditions each. They are paused: sends are not part of this test. */
async function subscribe(call: Call): Promise<void> {
  for (let w = 0; w < webhooks; w++) {
    const conditions = Array.from({ length: 20 }, (_, c) => ({
      field: c % 2 ? 'data.name' : 'data.custom_fields.region',
      op: 'ne',
      value: `${w} ${c}`,
    }))
    const { id } = await register(call, { url: `http://127.0.0.1:9/${w}`, conditions })
    await act(call, id, 'pause')
  }
}

/** Sends the batch, and measures how long other writes wait meanwhile. */
async function waitsOfWrites(t: TestContext, { call, url }: { call: Call; url: string }) {
  const items = Array.from({ length: companies }, (_, n) => ({ op: 'create', data: { name: `Acme ${n}` } }))
  let slowest_ms = 0
  const { noise } = await waitsDuring(url, await startIdle(t), async () => {
    let is_done = false
    const others = async () => {
      while (!is_done) {
        const from = performance.now()
        dataOf(await call('POST', '/api/v1/contacts', { first_name: 'Ana', last_name: 'Ruiz' }))
        slowest_ms = Math.max(slowest_ms, performance.now() - from)
      }
    }
    const waited = others()
    dataOf(await call('POST', '/api/v1/companies/batch', { items }))
    is_done = true
    await waited
  })
  return { slowest_ms, noise }
}

test('a batch with 60,000 deliveries lets other writes wait for at most 1 s, and kill -9 after it loses none', {
  timeout: limit_ms,
}, async (t) => {
  const data_dir = scratchFolder(t)
  const service = await startService(data_dir)
  t.after(() => service.end('SIGKILL'))
  await subscribe(service.call)
  const { slowest_ms, noise } = await waitsOfWrites(t, service)
  await service.end('SIGKILL')
  const stored = await readStored(data_dir)
  t.after(() => stored.close())
  const waiting = () => stored.rows('SELECT subject FROM work LIMIT 1')
  assert.equal((await waiting()).length, 1, 'the kill came in the middle')

  const again = await startService(data_dir, { key: service.key })
  t.after(() => again.end('SIGKILL'))
  await until(waiting, (left) => left.length === 0, limit_ms)
  const [row] = await stored.rows(
    'SELECT count(*) AS n FROM (SELECT DISTINCT webhook_id, event_id FROM webhook_deliveries) AS one',
  )
  const lost = count - Number(row?.n)
  const figures = `${count} deliveries, other writes at most ${slowest_ms.toFixed()} ms; ${tellNoise(noise)}`
  t.diagnostic(figures)
  report({ fault: 56, figures, events: companies, lost })
  assert.deepEqual([lost, await total(again.call, 'status=pending')], [0, count])
  assert.ok(slowest_ms < limitBeside(1000, noise), figures)
})
