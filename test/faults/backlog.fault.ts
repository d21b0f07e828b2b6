import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { transaction } from '../../src/db/db.ts'
import { contextOf } from '../../src/events/context.ts'
import { emit } from '../../src/events/emit.ts'
import { companyCreated } from '../../src/resources/companies/resource.ts'
import { beside } from '../keys.ts'
import { scratchFolder } from '../process.ts'
import { startReceiver } from '../receiver.ts'
import { act, register, total } from '../webhooks.ts'
import { limitBeside, startIdle, tellNoise, waitsDuring } from './idle.ts'
import { report } from './report.ts'
import { startService } from './service.ts'

const backlog = 100_000

/** Writes events of companies beside the service, a thousand in each transaction, as very many requests would. */
async function fill(data_dir: string) {
  const now_ms = Date.now()
  const actor = { kind: 'service', id: null } as const
  const context = contextOf(
    { now: () => now_ms, elapsed: () => 1 },
    { workspace_id: 1, actor, request_id: null },
  )
  await beside(data_dir, async (db) => {
    for (let from = 1; from <= backlog; from += 1000)
      await transaction(db, async (tx) => {
        for (let id = from; id < from + 1000; id++)
          await emit(tx, context, companyCreated, { id: 1_000_000 + id })
      })
  })
}

test('a backlog of 100,000 for one slow webhook: an event of another one arrives within a second', async (t) => {
  const [slow, quick] = await Promise.all([startReceiver(), startReceiver()])
  t.after(() => Promise.all([slow.close(), quick.close()]))
  slow.answering = () => ({ delay_ms: 500 })
  const data_dir = scratchFolder(t)
  const service = await startService(data_dir)
  t.after(() => service.end('SIGKILL'))
  const { call } = service
  const crowded = await register(call, { url: slow.url })
  await act(call, crowded.id, 'pause')
  await fill(data_dir)
  assert.equal(await total(call, 'status=pending'), backlog)
  await register(call, { url: quick.url, events: ['deal.created'] })
  await act(call, crowded.id, 'resume')
  await slow.waitFor(20, 30_000)
  const waits: number[] = []
  const { noise } = await waitsDuring(service.url, await startIdle(t), async () => {
    for (let n = 1; n <= 20; n++) {
      const start = Date.now()
      assert.equal((await call('POST', '/api/v1/deals', { name: 'Relaunch' })).status, 201)
      const all = await quick.waitFor(n)
      waits.push((all[n - 1]?.at_ms ?? Number.POSITIVE_INFINITY) - start)
      await pause(100)
    }
  })
  const slowest = Math.max(...waits)
  const figures = `${backlog} pending, 20 events of another webhook: the slowest after ${slowest} ms; ${tellNoise(noise)}`
  t.diagnostic(figures)
  report({ fault: 26, figures, events: waits.length, lost: 0 })
  assert.ok(slowest < limitBeside(1000, noise), `${waits}`)
  assert.ok(slow.received.length < backlog / 2, 'there is a backlog still')
})
