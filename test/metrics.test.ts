// runs: both
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engine } from './engine.ts'
import { useRapport } from './harness.ts'
import { useReceiver } from './receiver.ts'
import { act, company, log, register, until } from './webhooks.ts'

const receiver = useReceiver()
const rapport = useRapport({ env: { WEBHOOK_RETRY_DELAYS: '0' } })

/** The samples of /metrics, by name and labels. */
async function samples(): Promise<Record<string, number>> {
  const { text } = await rapport.call('GET', '/metrics')
  const lines = text.split('\n').filter((line) => line && !line.startsWith('#'))
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]),
  )
}

/** The samples that work added, without those that stayed the same. */
async function added(names: RegExp, work: () => Promise<void>): Promise<Record<string, number>> {
  const earlier = await samples()
  await work()
  const changes = Object.entries(await samples())
    .filter(([name]) => names.test(name))
    .map(([name, value]): [string, number] => [name, value - (earlier[name] ?? 0)])
  return Object.fromEntries(changes.filter(([, change]) => change !== 0))
}

async function deliver(url: string, fields: object = {}): Promise<void> {
  const { id } = await register(rapport.call, { url, ...fields })
  await company(rapport.call)
  await until(
    () => log(rapport.call),
    (all) => all.every(({ status }) => status !== 'pending'),
  )
  await rapport.call('DELETE', `/api/v1/webhooks/${id}`)
}

// For what is not answered. Other attempts may take long on a busy machine.
const hurried = { timeout_ms: 1000 }

test('attempts are counted by their outcome', async () => {
  const outcomes = (work: () => Promise<void>) => added(/^rapport_delivery_attempts_total/, work)
  const counted = (outcome: string, n: number) => ({
    [`rapport_delivery_attempts_total{outcome="${outcome}"}`]: n,
  })
  receiver.answering = () => ({})
  assert.deepEqual(await outcomes(() => deliver(receiver.url)), counted('succeeded', 1))
  for (const [status, outcome] of [
    [302, 'http_3xx'],
    [404, 'http_4xx'],
    [503, 'http_5xx'],
  ] as const) {
    receiver.answering = () => ({ status })
    assert.deepEqual(await outcomes(() => deliver(receiver.url)), counted(outcome, 2))
  }
  receiver.answering = () => 'hang'
  assert.deepEqual(await outcomes(() => deliver(receiver.url, hurried)), counted('timeout', 2))
  assert.deepEqual(await outcomes(() => deliver('http://127.0.0.1:1/')), counted('connection_refused', 2))
})

test('the time of each attempt is measured, and from an event to the first answer', async () => {
  const counts = (work: () => Promise<void>) => added(/^rapport_delivery_.*_count$/, work)
  receiver.answering = () => ({ status: 500 })
  assert.deepEqual(await counts(() => deliver(receiver.url)), {
    rapport_delivery_attempt_seconds_count: 2,
    rapport_delivery_receipt_seconds_count: 1,
  })
  receiver.answering = () => 'hang'
  assert.deepEqual(await counts(() => deliver(receiver.url, hurried)), {
    rapport_delivery_attempt_seconds_count: 2,
  })

  receiver.answering = () => ({})
  const times = await added(/^rapport_delivery_receipt_seconds_(sum|bucket.*"(10|\+Inf)"})$/, () =>
    deliver(receiver.url),
  )
  const { rapport_delivery_receipt_seconds_sum: sum = 0, ...buckets } = times
  assert.ok(sum > 0 && sum < 10, `${sum}`)
  assert.deepEqual(Object.values(buckets), [1, 1])
})

test('a ping counts as an attempt, and is not the receipt of an event', async () => {
  receiver.answering = () => ({})
  const { id } = await register(rapport.call, { url: receiver.url })
  const counts = await added(/^rapport_delivery_.*_count$/, () => act(rapport.call, id, 'test'))
  assert.deepEqual(counts, { rapport_delivery_attempt_seconds_count: 1 })
  await rapport.call('DELETE', `/api/v1/webhooks/${id}`)
})

test('a process shows its version, memory, event loop and connections', async () => {
  const version = process.versions.node
  const found = await until(samples, (now) => Number(now.rapport_event_loop_delay_seconds_count) > 2)
  const [build = ''] = Object.keys(found).filter((name) => name.startsWith('rapport_build_info'))
  assert.match(build, /version="\d+\.\d+\.\d+"/)
  assert.ok(build.includes(`node="${version}",engine="${engine}"`), build)
  for (const name of ['resident_memory', 'heap_used', 'external_memory'])
    assert.ok(Number(found[`rapport_${name}_bytes`]) > 1000, name)
  assert.ok(Number(found.rapport_event_loop_delay_seconds_sum) >= 0)
  const connections = ['busy', 'idle'].map((state) => found[`rapport_pool_connections{state="${state}"}`])
  if (engine === 'sqlite') assert.deepEqual(connections, [undefined, undefined])
  else assert.ok(Number(connections[0]) + Number(connections[1]) > 0, `${connections}`)
  assert.equal(found.rapport_pool_waiting, engine === 'sqlite' ? undefined : 0)
})
