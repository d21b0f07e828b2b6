// runs: both
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { openSeed, seedDeliveries } from '../backlog.ts'
import { readStored } from '../database.ts'
import { engine, removeScratch } from '../engine.ts'
import { client, type Rapport, startRapport } from '../harness.ts'
import { scratchFolder } from '../process.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { bestOfTen, type MeasuredWithSlowness, measureWithSlowness } from '../statements.ts'
import { act, type Call, delivery, log, register, total, until, webhook } from '../webhooks.ts'

let receiver: Receiver
let data_dir: string
let key: string
let running: Rapport[]
beforeEach(async () => {
  receiver = await startReceiver()
  running = []
  key = ''
})
afterEach(async () => {
  for (const one of running) await one.close()
  await receiver.close()
  await removeScratch(data_dir)
})

/** A process that only answers the API, so background work stays pending; or one that also does the work. */
async function start(role: 'answers only' | 'works it off'): Promise<Call> {
  for (const one of running.splice(0)) await one.close()
  const rapport = await startRapport({ data_dir, ...(role === 'answers only' && { roles: ['api'] }) })
  running.push(rapport)
  key ||= rapport.key
  return client(rapport.url, key)
}

type Backlog = Omit<Parameters<typeof seedDeliveries>[1], 'webhook_id'>

/** A webhook with many deliveries, on a process that only answers. */
async function backlogged(t: Parameters<typeof scratchFolder>[0], ...backlogs: Backlog[]) {
  data_dir = scratchFolder(t)
  const hook = await register(await start('answers only'), { url: receiver.url })
  const seed = await openSeed(data_dir)
  for (const backlog of backlogs) await seedDeliveries(seed, { webhook_id: hook.id, ...backlog })
  await seed.close()
  return { hook, call: await start('answers only') }
}

async function waiting(): Promise<number> {
  const stored = await readStored(data_dir)
  const [row] = await stored.rows('SELECT count(*) AS n FROM webhook_queue')
  await stored.close()
  return Number(row?.n)
}

const isQuick = ({ slowest, slowness }: MeasuredWithSlowness) => slowest.cpu_ms < 50 * slowness
const remove = (call: Call, id: string) => call('DELETE', `/api/v1/webhooks/${id}`)
const resendFailed = async (call: Call, id: string, body?: object): Promise<number> =>
  (await act(call, id, 'resend-failed', body)).count

const count = 1000
// So that nothing of it is due in the meantime.
const pending = { count, status: 'pending' as const, run_at_ms: 4e12 }
const failed = { count, status: 'failed' as const }

describe('deleting a webhook with a long queue', () => {
  test('answers before all is cancelled, and the API shows all of it as cancelled at once', async (t) => {
    const { hook, call } = await backlogged(t, pending, { ...failed, first: count + 1, count: 10 })
    const other = await register(call, { url: `${receiver.url}/other` })
    const seed = await openSeed(data_dir)
    const of_other = { ...pending, count: 30, first: 5000, event: 'deal.won' }
    await seedDeliveries(seed, { webhook_id: other.id, ...of_other })
    await seed.close()
    assert.equal((await remove(call, hook.id)).status, 200)
    assert.ok((await waiting()) > 500, 'most of it is left for the background')

    assert.equal((await call('GET', `/api/v1/webhooks/${hook.id}`)).status, 404)
    const mine = `webhook_id=${hook.id}`
    const totals = {
      'status=pending': 30,
      'status=cancelled': count,
      'status=failed': 10,
      [mine]: count + 10,
      [`${mine}&status=pending`]: 0,
      [`${mine}&status=cancelled`]: count,
      'event=deal.won&status=pending': 30,
      'event=company.created&status=cancelled': count,
      'status=cancelled&from=2026-10-31T00:00:00Z&to=2026-11-02T00:00:00Z': count,
      'status=cancelled&from=2026-11-02T00:00:00Z': 0,
    }
    for (const [query, n] of Object.entries(totals)) assert.equal(await total(call, query), n, query)
    assert.deepEqual(
      new Set((await log(call, 'status=pending&per_page=100')).map(({ webhook_id }) => webhook_id)),
      new Set([other.id]),
    )
    // Every page, and by cursor, each delivery once.
    const seen: string[] = []
    for (let page = 1; page <= count / 100; page++)
      for (const one of await log(call, `status=cancelled&per_page=100&page=${page}`)) {
        assert.deepEqual([one.status, one.next_attempt_at], ['cancelled', null])
        assert.ok(one.finished_at)
        seen.push(one.id)
      }
    assert.equal(new Set(seen).size, count)
    assert.deepEqual(seen, seen.toSorted().reverse())
    const found = await call('GET', '/api/v1/deliveries?status=cancelled&per_page=100&cursor=start')
    assert.equal(found.status, 200, found.text)
    assert.deepEqual(
      found.body.data.map(({ id }: { id: string }) => id),
      seen.slice(0, 100),
    )
    const last = await delivery(call, String(seen[0]))
    assert.equal(last.status, 'cancelled')
    assert.equal((await call('POST', `/api/v1/deliveries/${last.id}/resend`)).status, 409)
    assert.match((await call('GET', '/metrics')).text, /^rapport_deliveries_due 0$/m)
  })

  test('is done to the end after a restart: nothing changes that the API shows, and nothing is sent', async (t) => {
    const { hook, call } = await backlogged(t, pending)
    await remove(call, hook.id)
    const path = `/api/v1/deliveries/dlv_0000${1_000_000_000 + count}`
    const before = await call('GET', path)
    assert.equal(before.body.data.status, 'cancelled')
    assert.ok((await waiting()) > 500)
    const after_start = await start('works it off')
    await until(waiting, 0)
    const after = await after_start('GET', path)
    assert.deepEqual([after.body, after.headers.get('etag')], [before.body, before.headers.get('etag')])
    assert.deepEqual(
      [await total(after_start, 'status=cancelled'), await total(after_start, 'status=pending')],
      [count, 0],
    )
    const stored = await readStored(data_dir)
    const rows = await stored.rows(
      'SELECT status, next_attempt_at, count(*) AS n, count(DISTINCT finished_at) AS times FROM webhook_deliveries GROUP BY 1, 2',
    )
    await until(
      () => stored.rows('SELECT subject FROM work'),
      (left) => left.length === 0,
    )
    await stored.close()
    assert.deepEqual(rows, [{ status: 'cancelled', next_attempt_at: null, n: count, times: 1 }])
    assert.equal(receiver.received.length, 0)
  })

  test('costs as many statements with a long queue as with a short one', {
    skip: engine === 'postgres' && 'there, one statement is of any number of rows',
  }, async (t) => {
    const { call } = await backlogged(t)
    let first = 1
    const measure = async (count: number) => {
      const { id } = await register(call, { url: `${receiver.url}/other` })
      const seed = await openSeed(data_dir)
      await seedDeliveries(seed, { webhook_id: id, ...pending, count, first })
      await seed.close()
      first += count
      return measureWithSlowness(() => remove(call, id))
    }
    const short = await measure(count)
    const isAlike = (one: MeasuredWithSlowness) => one.count <= short.count + 10
    const long = await bestOfTen(
      () => measure(20_000),
      (one) => isQuick(one) && isAlike(one),
    )
    assert.ok(isAlike(long), `${long.count} statements, and ${short.count}`)
    assert.ok(isQuick(long), JSON.stringify(long))
  })
})

describe('sending again what failed, when it is much', () => {
  test('answers the exact count before all is in the queue, and promises none twice', async (t) => {
    const { hook, call } = await backlogged(
      t,
      { ...failed, created_at: '2026-11-01T08:30:00.000Z' },
      { ...failed, first: count + 1, created_at: '2026-11-05T08:30:00.000Z' },
      { ...failed, first: 5001, count: 20, event: 'ping' },
      { first: 6001, count: 20, status: 'succeeded' },
    )
    const since = '2026-11-05T08:30:00Z'
    const counts = await Promise.all([1, 2, 3].map(() => resendFailed(call, hook.id, { since })))
    assert.deepEqual(counts.toSorted(), [0, 0, count])
    assert.ok((await waiting()) < 500, 'most of it is left for the background')
    assert.equal(await resendFailed(call, hook.id), count)
    assert.equal(await resendFailed(call, hook.id), 0)
  })

  test('what was promised is sent after a crash, each once', async (t) => {
    const { hook, call } = await backlogged(t, failed)
    assert.equal(await resendFailed(call, hook.id), count)
    // One is retried before its turn in the resend: one attempt keeps both promises.
    const single = `dlv_0000${1_000_000_000 + count}`
    assert.equal((await call('POST', `/api/v1/deliveries/${single}/resend`)).status, 200)
    const after_start = await start('works it off')
    await until(
      () => total(after_start, 'status=succeeded'),
      (n) => n === count,
    )
    assert.equal(await total(after_start, 'status=failed'), 0)
    assert.equal(await total(after_start, 'status=pending'), 0)
    const sent = receiver.received.map(({ headers }) => headers['x-service-delivery'])
    assert.equal(new Set(sent).size, count)
    assert.equal(sent.length, count)
    assert.equal((await webhook(after_start, hook.id)).status, 'active')
  })

  test('a webhook that is deleted meanwhile gets nothing of it', async (t) => {
    const { hook, call } = await backlogged(t, failed)
    assert.equal(await resendFailed(call, hook.id), count)
    await remove(call, hook.id)
    const moved = await total(call, 'status=cancelled')
    assert.ok(moved < 500)
    assert.deepEqual(
      [await total(call, 'status=failed'), await total(call, 'status=pending')],
      [count - moved, 0],
    )
    const after_start = await start('works it off')
    await until(waiting, 0)
    assert.equal(await total(after_start, 'status=failed'), count - moved)
    assert.equal(receiver.received.length, 0)
  })
})

test('a long log is read and counted by every filter, in pages and by cursor, and holds nobody up', async (t) => {
  const days = ['2026-11-01', '2026-11-02', '2026-11-03'].map((day) => `${day}T08:30:00.000Z`)
  const backlogs = [0, 1, 2, 3].map((n): Backlog => {
    const status = n % 2 ? 'failed' : 'succeeded'
    return { first: n * 4000 + 1, count: 4000, status, created_at: String(days[n % 3]) }
  })
  const { hook, call } = await backlogged(t, ...backlogs)
  const stored = await readStored(data_dir)
  const all = await stored.rows('SELECT id, status, created_at FROM webhook_deliveries ORDER BY id DESC')
  await stored.close()
  const time = (row: { created_at?: unknown }) => String(row.created_at)
  const filters: [string, (row: Record<string, unknown>) => boolean][] = [
    ['', () => true],
    ['status=failed', ({ status }) => status === 'failed'],
    [`webhook_id=${hook.id}&status=failed`, ({ status }) => status === 'failed'],
    ['event=company.created&status=succeeded', ({ status }) => status === 'succeeded'],
    ['event=company.created&status=pending', () => false],
    [`from=${days[1]}`, (row) => time(row) >= String(days[1])],
    [`to=${days[0]}`, (row) => time(row) <= String(days[0])],
    [
      `from=${days[1]}&to=${days[1]}&status=failed`,
      (row) => time(row) === days[1] && row.status === 'failed',
    ],
  ]
  const read = async () => {
    for (const [query, holds] of filters) {
      const expected = all.filter(holds).map(({ id }) => id)
      for (const page of [1, 2, 61, 110]) {
        const at = `/api/v1/deliveries?${query}&per_page=100&page=${page}`
        const { body } = await call('GET', at)
        const ids = body.data.map(({ id }: { id: string }) => id)
        assert.deepEqual(ids, expected.slice((page - 1) * 100, page * 100), at)
        assert.equal(body.meta.total, expected.length, at)
      }
      const first = await call('GET', `/api/v1/deliveries?${query}&per_page=100&cursor=start`)
      const next = first.body.meta.next_cursor
      assert.equal(next !== null, expected.length > 100, query)
      if (next === null) continue
      const second = await call('GET', `/api/v1/deliveries?${query}&per_page=100&cursor=${next}`)
      const ids = [...first.body.data, ...second.body.data].map(({ id }: { id: string }) => id)
      assert.deepEqual(ids, expected.slice(0, 200), query)
    }
  }
  const measured = await bestOfTen(() => measureWithSlowness(read), isQuick)
  assert.ok(isQuick(measured), JSON.stringify(measured))
})
