// runs: alone
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { transaction } from '../src/db/db.ts'
import { contextOf } from '../src/events/context.ts'
import { emit } from '../src/events/emit.ts'
import { companyCreated } from '../src/resources/companies/resource.ts'
import { type Rapport, startRapport } from './harness.ts'
import { beside } from './keys.ts'
import { type Receiver, startReceiver } from './receiver.ts'
import { company, log, register, total, until } from './webhooks.ts'

let rapport: Rapport
let hanging: Receiver
let healthy: Receiver
before(async () => {
  rapport = await startRapport({ env: { MAX_WEBHOOKS: '300' } })
  hanging = await startReceiver({ answer: 'hang' })
  healthy = await startReceiver()
})
after(async () => {
  // Hanging receivers must not delay the stop of the service.
  hanging.answering = () => ({})
  await hanging.close()
  await rapport.close()
  await healthy.close()
})

/** Milliseconds from a request that makes an event to the arrival of the event. */
async function latency(): Promise<number> {
  const before = performance.now()
  const { body } = await rapport.call('POST', '/api/v1/deals', { name: 'Relaunch' })
  const marker = `"data":{"id":${body.data.id},`
  await healthy.waitFor((all) => all.some((request) => request.body.includes(marker)))
  return performance.now() - before
}

async function p95(count: number): Promise<number> {
  healthy.received.length = 0
  const all: number[] = []
  while (all.length < count) all.push(await latency())
  return all.sort((a, b) => a - b)[Math.floor(count * 0.95)] as number
}

/** Writes many events of companies at once, with their deliveries, as requests would. */
async function backlog(count: number) {
  const now_ms = Date.now()
  const context = contextOf(
    { now: () => now_ms, elapsed: () => now_ms },
    { workspace_id: 1, actor: { kind: 'service', id: null }, request_id: null },
  )
  await beside(rapport.data_dir, (db) =>
    transaction(db, async (tx) => {
      for (let id = 1; id <= count; id++) await emit(tx, context, companyCreated, { id: 1_000_000 + id })
    }),
  )
}

const forget = async (ids: string[]) => {
  for (const id of ids) await rapport.call('DELETE', `/api/v1/webhooks/${id}`)
  hanging.drop()
}

test('twenty webhooks that hang do not delay a healthy one', async () => {
  const { id } = await register(rapport.call, { url: healthy.url, events: ['deal.created'] })
  await p95(10)
  const alone = await p95(40)
  const slow: string[] = []
  for (let n = 0; n < 20; n++) {
    const events = ['company.created', 'deal.created']
    slow.push((await register(rapport.call, { url: `${hanging.url}/${n}`, events })).id)
  }
  for (let n = 0; n < 10; n++) await company(rapport.call)
  await hanging.waitFor(80)
  const beside = await p95(40)
  assert.ok(hanging.received.length <= 20 * 4 + 5, 'a webhook that does not answer gets no more and no more')
  await forget(slow)
  // Before and after, because the machine may be busier in between.
  const slowest_alone = Math.max(alone, await p95(40))
  // Each event made 21 deliveries instead of one, which costs a little; a hanging one would cost ten seconds.
  assert.ok(
    beside < 2 * slowest_alone + 50,
    `p95 alone ${slowest_alone.toFixed(1)} ms, beside ${beside.toFixed(1)} ms`,
  )
  await forget([id])
})

test('a backlog of 5,000 on a webhook that hangs does not delay an event of another by a second', async () => {
  const stuck = await register(rapport.call, { url: hanging.url })
  const { id } = await register(rapport.call, { url: healthy.url, events: ['deal.created'] })
  await backlog(5000)
  assert.equal(await total(rapport.call, `webhook_id=${stuck.id}&status=pending`), 5000)
  await until(
    async () => (await rapport.call('GET', '/metrics')).text,
    (text) => text.includes('rapport_deliveries_in_flight 4'),
  )
  for (let n = 0; n < 10; n++) {
    const ms = await latency()
    assert.ok(ms < 1000, `${ms.toFixed(0)} ms`)
  }
  await forget([stuck.id, id])
  assert.equal(await total(rapport.call, 'status=pending'), 0)
})

test('more hanging webhooks than one round reads, each with a backlog, do not block a healthy one', async () => {
  const stuck: string[] = []
  const numbers = Array.from({ length: 260 }, (_, n) => n)
  for (const n of numbers) stuck.push((await register(rapport.call, { url: `${hanging.url}/${n}` })).id)
  hanging.received.length = 0
  await backlog(6)
  const { id } = await register(rapport.call, { url: healthy.url, events: ['deal.created'] })
  await hanging.waitFor((all) => new Set(all.map(({ path }) => path)).size === stuck.length)
  const ms = await latency()
  assert.ok(ms < 1000, `${ms.toFixed(0)} ms`)
  assert.equal((await log(rapport.call, `webhook_id=${id}`)).length, 1)
  await forget([...stuck, id])
})
