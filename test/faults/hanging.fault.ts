import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { scratchFolder } from '../process.ts'
import { startReceiver } from '../receiver.ts'
import { company, register, total, until } from '../webhooks.ts'
import { startIdle, tellNoise, waitsDuring } from './idle.ts'
import { report } from './report.ts'
import { startService } from './service.ts'

const each = 50
const rounds = 9
const events_a_round = 10
// Longer than the test takes, so that what hangs hangs throughout it.
const env = { WEBHOOK_TIMEOUT_MS: '120000', WEBHOOK_RETRY_DELAYS: 'none' }

/** A service with 50 healthy webhooks. */
async function world(t: TestContext) {
  const arrivals = new Map<number, number[]>()
  const receiver = await startReceiver({
    answer({ body }) {
      const { id } = JSON.parse(body).data
      arrivals.set(id, [...(arrivals.get(id) ?? []), performance.now()])
      return {}
    },
  })
  t.after(() => receiver.close())
  const service = await startService(scratchFolder(t), { env })
  t.after(() => service.end('SIGKILL'))
  const { call, url } = service
  for (let n = 0; n < each; n++)
    await register(call, { url: `${receiver.url}/${n}`, events: ['deal.created'] })
  return {
    call,
    url,
    /** The milliseconds from a change to the arrival of its event at each healthy webhook. */
    async waits(): Promise<number[]> {
      const before = performance.now()
      const { id } = (await call('POST', '/api/v1/deals', { name: 'Relaunch' })).body.data
      const times = await until(
        async () => arrivals.get(id) ?? [],
        ({ length }) => length === each,
      )
      return times.map((at) => at - before)
    },
  }
}
type World = Awaited<ReturnType<typeof world>>

/** Adds webhooks to a service whose receiver never answers, and waits until each hangs. */
async function hang(t: TestContext, { call }: World): Promise<void> {
  const receiver = await startReceiver({ answer: 'hang' })
  t.after(() => receiver.close())
  for (let n = 0; n < each; n++) await register(call, { url: `${receiver.url}/${n}` })
  // As many attempts as each one gets, and some more that wait.
  for (let n = 0; n < 6; n++) await company(call)
  await receiver.waitFor((all) => new Set(all.map(({ path }) => path)).size === each)
}

const p95 = (all: number[]) => all.toSorted((a, b) => a - b)[Math.floor(all.length * 0.95)] as number

test('50 webhooks that hang beside 50 healthy ones: p95 of the healthy ones is at most 1.2 times as long', async (t) => {
  // Two services, an event of each in turns, so that what else the machine does meets both alike.
  const [alone, beside] = [await world(t), await world(t)]
  await hang(t, beside)
  for (let n = 0; n < events_a_round; n++) for (const one of [alone, beside]) await one.waits()

  const ratios: number[] = []
  async function measure() {
    for (let round = 0; round < rounds; round++) {
      const times = { alone: [] as number[], beside: [] as number[] }
      for (let n = 0; n < events_a_round; n++) {
        const both = [['alone', alone] as const, ['beside', beside] as const]
        for (const [name, one] of n % 2 ? both : both.reverse()) times[name].push(...(await one.waits()))
      }
      const [without_ms, with_ms] = [p95(times.alone), p95(times.beside)]
      t.diagnostic(`p95 ${without_ms.toFixed(1)} ms alone, ${with_ms.toFixed(1)} ms beside`)
      ratios.push(with_ms / without_ms)
    }
  }
  const { noise } = await waitsDuring(beside.url, await startIdle(t), measure)
  const median = ratios.sort((a, b) => a - b)[Math.floor(rounds / 2)] as number
  const figures = `p95 × ${median.toFixed(2)}, median of ${rounds} rounds; ${tellNoise(noise)}`
  t.diagnostic(figures)
  report({ fault: 27, figures })
  for (const { call } of [alone, beside])
    assert.equal(await total(call, 'event=deal.created&status=failed'), 0)
  assert.ok(median <= 1.2, `× ${ratios.map((one) => one.toFixed(2)).join(', ')}`)
})
