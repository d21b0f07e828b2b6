import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { openScratch } from '../../../../test/engine.ts'
import { startService } from '../../../../test/faults/service.ts'
import { scratchFolder } from '../../../../test/process.ts'
import { startReceiver } from '../../../../test/receiver.ts'
import { useFor } from '../../../../test/use.ts'
import { company, register } from '../../../../test/webhooks.ts'
import { followClock } from './clock.ts'

const hour_ms = 3_600_000

async function serverTime(data_dir: string): Promise<number> {
  const { db, close } = await openScratch(data_dir)
  const { rows } = await sql<{
    ms: number
  }>`SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms`.execute(db)
  await close()
  return Number(rows[0]?.ms)
}

test('the time is the server’s, however wrong this machine’s clock is, and follows when that is turned', async (t) => {
  const { db, close } = await openScratch(scratchFolder(t))
  for (const wrong_ms of [-24 * hour_ms, 0, 24 * hour_ms]) {
    let turned_ms = 0
    const begun_ms = Date.now()
    const clock = await followClock(db, { now: () => Date.now() + wrong_ms + turned_ms })
    // A slow reading is less precise.
    const within_ms = 500 + Date.now() - begun_ms
    const isRight = (turned_ms: number) => {
      const before_ms = Date.now() - within_ms
      const shown_ms = clock.now() - turned_ms
      return shown_ms > before_ms && shown_ms < Date.now() + within_ms
    }
    assert.ok(isRight(0))
    turned_ms = 1000
    assert.ok(isRight(turned_ms), 'carried on by its own clock between readings')
    clock.stop()
  }
  await close()
})

test('a slow reading at the start is replaced by a faster one, which is precise', async (t) => {
  const { db, close } = await openScratch(scratchFolder(t))
  // By its own clock, the first reading takes 20 s: the time may be that of any moment of them.
  const times = [0, 20_000, 20_000]
  const begun_ms = Date.now()
  const clock = await followClock(db, { now: () => times.shift() ?? 20_001 })
  const shown_ms = clock.now()
  clock.stop()
  assert.ok(shown_ms >= begun_ms - 500 && shown_ms <= Date.now() + 500, `${shown_ms - begun_ms} ms ahead`)
  await close()
})

test('processes whose clocks are an hour ahead and an hour behind agree about retries, times and signatures', async (t) => {
  const receiver = await useFor(t, startReceiver())
  const data_dir = scratchFolder(t)
  const turned = (ms: number) => ({
    WEBHOOK_RETRY_DELAYS: '1',
    NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(`const now=Date.now;Date.now=()=>now()+(${ms})`)}`,
  })
  const ahead = await startService(data_dir, { env: turned(hour_ms) })
  t.after(() => ahead.end('SIGKILL'))
  const behind = await startService(data_dir, { env: turned(-hour_ms), key: ahead.key })
  t.after(() => behind.end('SIGKILL'))
  const hook = await register(ahead.call, { url: receiver.url })
  for (const service of [ahead, behind]) {
    receiver.received.length = 0
    receiver.answering = (_request, number) => ({ status: number === 1 ? 500 : 200 })
    const before = await serverTime(data_dir)
    const { id } = await company(service.call)
    const made = (await service.call('GET', `/api/v1/companies/${id}`)).body.data.created_at
    const after = await serverTime(data_dir)
    const made_ms = Date.parse(made)
    assert.ok(made_ms > before - 1000 && made_ms < after + 1000, `${made} is the server's time`)
    const [first, second] = await receiver.waitFor(2)
    const waited = Number(second?.at_ms) - Number(first?.at_ms)
    assert.ok(waited >= 950 && waited < 60_000, `${waited} ms before the retry`)
    // The libraries refuse a timestamp that is five minutes off.
    await receiver.verify(hook.secret)
  }
})
