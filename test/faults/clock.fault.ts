import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { engine } from '../engine.ts'
import { client } from '../harness.ts'
import { beside } from '../keys.ts'
import { runRapport, scratchFolder } from '../process.ts'
import { startReceiver } from '../receiver.ts'
import { settableClock } from '../set-clock.ts'
import { company, register, until } from '../webhooks.ts'
import { startService } from './service.ts'

// The clock is set under processes as they run in production: this machine's on SQLite, the server's on PostgreSQL.
const hour_ms = 3600 * 1000
const day_ms = 24 * hour_ms

const metric = async (url: string, name: string) =>
  Number(new RegExp(`^${name} (.*)$`, 'm').exec((await client(url, null)('GET', '/metrics')).text)?.[1])

/** Until the service shows the time that the clock was set to. */
async function noticed(call: ReturnType<typeof client>, set_ms: number) {
  const told = async () => {
    const { body } = await call('POST', '/api/v1/companies', { name: 'Now' })
    return Date.parse(body.data.created_at) - Date.now()
  }
  await until(told, (off_ms) => Math.abs(off_ms - set_ms) < 60_000, 15_000)
}

describe('the clock of running processes', { concurrency: 4 }, () => {
  for (const [name, set_ms] of [
    ['ahead', hour_ms],
    ['back', -hour_ms],
  ] as const)
    test(`a retry comes 12 s after its attempt, though the clock is set an hour ${name} in between`, async (t) => {
      const receiver = await startReceiver()
      t.after(() => receiver.close())
      receiver.answering = () => ({ status: 500 })
      const data_dir = scratchFolder(t)
      const { env, set } = await settableClock(data_dir)
      const service = await startService(data_dir, { env: { ...env, WEBHOOK_RETRY_DELAYS: '12' } })
      t.after(() => service.end('SIGKILL'))
      await register(service.call, { url: receiver.url })
      await company(service.call)
      await receiver.waitFor(1)
      await set(set_ms)
      const [first, second] = await receiver.waitFor(2, 30_000)
      const waited_ms = Number(second?.at_ms) - Number(first?.at_ms)
      t.diagnostic(`the retry came after ${Math.round(waited_ms)} ms`)
      assert.ok(waited_ms >= 11_950 && waited_ms < 24_000, `${waited_ms} ms`)
      await noticed(service.call, set_ms)
    })

  test('a start 40 days ahead keeps the trash and the log until `rapport clock confirm`', async (t) => {
    const data_dir = scratchFolder(t)
    const { env, set } = await settableClock(data_dir)
    const first = await startService(data_dir, { env })
    const { id } = await company(first.call)
    await first.call('DELETE', `/api/v1/companies/${id}`)
    await first.end('SIGTERM')
    await set(40 * day_ms)
    const service = await startService(data_dir, { env, key: first.key })
    t.after(() => service.end('SIGKILL'))
    const count = (table: 'companies' | 'events') =>
      beside(data_dir, async (db) => (await db.selectFrom(table).select('workspace_id').execute()).length)
    // The logs after 10 s, the trash after 15 s, people after 20 s: each job has been refused.
    const put_off = () => metric(service.url, 'rapport_removal_put_off_total')
    await until(put_off, (n) => n >= 4, 40_000)
    assert.equal(await metric(service.url, 'rapport_removal_held'), 1)
    assert.deepEqual([await count('companies'), await count('events')], [1, 2])
    assert.match(service.complaints(), /Nothing is removed for good before .*rapport clock confirm/)
    const settings = { DATA_DIR: data_dir, ...env }
    assert.match((await runRapport(['clock', 'show'], settings)).stdout, /Nothing is removed for good before/)
    const confirmed = await runRapport(['clock', 'confirm'], settings)
    assert.deepEqual([confirmed.code, confirmed.stderr], [0, ''])
    await until(() => count('companies'), 0, 30_000)
    await until(() => count('events'), 0, 30_000)
  })

  test('the lease of a crashed worker ends on time, though the clock is set an hour back', async (t) => {
    const receiver = await startReceiver()
    t.after(() => receiver.close())
    const data_dir = scratchFolder(t)
    const { env: turned, set } = await settableClock(data_dir)
    const env = { ...turned, WEBHOOK_TIMEOUT_MS: '1000', WEB_CONCURRENCY: '2' }
    const service = await startService(data_dir, { env })
    t.after(() => service.end('SIGKILL'))
    await register(service.call, { url: receiver.url })
    // Never answered while the first workers live.
    receiver.answering = () => ({ delay_ms: 60_000 })
    await company(service.call)
    await receiver.waitFor(1)
    await set(-hour_ms)
    const workers = readFileSync(`/proc/${service.pid}/task/${service.pid}/children`, 'utf8')
      .trim()
      .split(' ')
    for (const pid of workers) process.kill(Number(pid), 'SIGKILL')
    receiver.answering = () => ({ status: 200 })
    const [first, second] = await receiver.waitFor(2, 60_000)
    const waited_ms = Number(second?.at_ms) - Number(first?.at_ms)
    t.diagnostic(`${engine}: sent again after ${Math.round(waited_ms)} ms; the lease is 31 s`)
    assert.ok(waited_ms < 45_000)
    // The new workers have another port, so read the database.
    const statuses = () =>
      beside(data_dir, (db) => db.selectFrom('webhook_deliveries').select('status').execute())
    await until(statuses, ([one]) => one?.status === 'succeeded', 15_000)
  })
})
