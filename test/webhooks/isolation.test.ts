// runs: apart
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { companyCreated } from '../../src/resources/companies/resource.ts'
import { emitMany } from '../backlog.ts'
import { type Rapport, startRapport } from '../harness.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { company, log, register, total, until } from '../webhooks.ts'

let rapport: Rapport
/** The same service without a webhook that hangs: what the machine delays, it delays in both. */
let control: Rapport
let hanging: Receiver
let healthy: Receiver
before(async () => {
  // A delivery that waits for a receiver that hangs waits for longer than any busy machine takes.
  rapport = await startRapport({ env: { MAX_WEBHOOKS: '300', WEBHOOK_TIMEOUT_MS: '60000' } })
  control = await startRapport()
  hanging = await startReceiver({ answer: 'hang' })
  healthy = await startReceiver()
  await register(control.call, { url: `${healthy.url}/control`, events: ['deal.created'] })
})
after(async () => {
  // Hanging receivers must not delay the stop of the service.
  hanging.answering = () => ({})
  await hanging.close()
  await rapport.close()
  await control.close()
  await healthy.close()
})

/** Milliseconds from a request that makes an event to the arrival of the event. */
async function latency({ call }: Rapport): Promise<number> {
  const before = performance.now()
  const name = randomUUID()
  await call('POST', '/api/v1/deals', { name })
  await healthy.waitFor((all) => all.some((request) => request.body.includes(name)))
  return performance.now() - before
}

/** The latencies of both services, each pair one after the other. */
async function latencies(count: number): Promise<{ beside: number[]; alone: number[] }> {
  healthy.received.length = 0
  const beside: number[] = []
  const alone: number[] = []
  while (beside.length < count) {
    beside.push(await latency(rapport))
    alone.push(await latency(control))
  }
  return { beside, alone }
}

const quantile = (all: number[], share: number) =>
  all.toSorted((a, b) => a - b)[Math.floor(all.length * share)] as number
const median = (all: number[]) => quantile(all, 0.5)
const p95 = (all: number[]) => quantile(all, 0.95)
const figures = (all: Record<string, number[]>) =>
  Object.entries(all)
    .map(([name, some]) => `${name}: ${some.map(Math.round)} ms`)
    .join('; ')

/** Checks that no event takes a second longer than those of the other service. */
async function delaysNone(count: number) {
  const { beside, alone } = await latencies(count)
  // On a busy machine the same work takes many times as long.
  assert.ok(Math.max(...beside) < 1000 + 10 * Math.max(...alone), figures({ beside, alone }))
}

const backlog = (count: number) => {
  const records = Array.from({ length: count }, (_, n) => ({ id: 1_000_001 + n }))
  return emitMany(rapport.data_dir, companyCreated, records)
}

const forget = async (ids: string[]) => {
  for (const id of ids) await rapport.call('DELETE', `/api/v1/webhooks/${id}`)
  hanging.drop()
}

test('twenty webhooks that hang do not delay a healthy one', async () => {
  const { id } = await register(rapport.call, { url: healthy.url, events: ['deal.created'] })
  await latencies(10)
  const slow: string[] = []
  for (let n = 0; n < 20; n++) {
    const events = ['company.created', 'deal.created']
    slow.push((await register(rapport.call, { url: `${hanging.url}/${n}`, events })).id)
  }
  for (let n = 0; n < 10; n++) await company(rapport.call)
  await hanging.waitFor(80)
  const { beside, alone } = await latencies(40)
  assert.ok(
    hanging.received.length <= 20 * (4 + 4),
    'a webhook that does not answer gets no more and no more',
  )
  await forget(slow)
  // Each event made 21 deliveries instead of one, which costs some work. A busy machine may stop both for a moment.
  assert.ok(median(beside) < 8 * median(alone) + 50, figures({ beside, alone }))
  assert.ok(p95(beside) < 8 * Math.max(...alone) + 50, figures({ beside, alone }))
  await forget([id])
})

test('a backlog of 5,000 on a webhook that hangs does not delay an event of another by a second', async () => {
  const stuck = await register(rapport.call, { url: hanging.url })
  const { id } = await register(rapport.call, { url: healthy.url, events: ['deal.created'] })
  await backlog(5000)
  assert.equal(await total(rapport.call, `webhook_id=${stuck.id}&status=pending`), 5000)
  await until(
    async () => (await rapport.call('GET', '/metrics')).text,
    // Beside these four, the newest deliveries have slots.
    (text) => Number(/^rapport_deliveries_in_flight (\d+)/m.exec(text)?.[1]) >= 4,
  )
  await delaysNone(10)
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
  await delaysNone(1)
  assert.equal((await log(rapport.call, `webhook_id=${id}`)).length, 1)
  await forget([...stuck, id])
})
