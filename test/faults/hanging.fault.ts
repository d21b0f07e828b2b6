import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scratchFolder } from '../process.ts'
import { startReceiver } from '../receiver.ts'
import { act, company, register, total, until } from '../webhooks.ts'
import { report } from './report.ts'
import { type Service, startService } from './service.ts'

const each = 50
const rounds = 5
const events_a_round = 20
// Longer than a round takes, so that what hangs hangs throughout it.
const env = { WEBHOOK_TIMEOUT_MS: '20000', WEBHOOK_RETRY_DELAYS: 'none' }

test('50 webhooks that hang beside 50 healthy ones: p95 of the healthy ones is at most 1.2 times as long', async (t) => {
  const data_dir = scratchFolder(t)
  const service = await startService(data_dir, { env })
  const hanging = await startReceiver({ answer: 'hang' })
  const arrivals = new Map<number, number[]>()
  const healthy = await startReceiver({
    answer({ body }) {
      const { id } = JSON.parse(body).data
      arrivals.set(id, [...(arrivals.get(id) ?? []), performance.now()])
      return {}
    },
  })
  t.after(async () => {
    await service.end('SIGKILL')
    await hanging.close()
    await healthy.close()
  })
  const { call } = service
  const dead: string[] = []
  for (let n = 0; n < each; n++) {
    await register(call, { url: `${healthy.url}/${n}`, events: ['deal.created'] })
    dead.push((await register(call, { url: `${hanging.url}/${n}` })).id)
  }
  const p95 = () => measure(service, arrivals)
  await p95()

  // In turns, so that what else the machine does meets both alike.
  const ratios: number[] = []
  for (let round = 0; round < rounds; round++) {
    const alone = await p95()
    await hang(service, hanging)
    const beside = await p95()
    t.diagnostic(`p95 ${alone.toFixed(1)} ms alone, ${beside.toFixed(1)} ms beside`)
    ratios.push(beside / alone)
    await drop(service, hanging)
  }
  const median = ratios.sort((a, b) => a - b)[Math.floor(rounds / 2)] as number
  report({ fault: 27, figures: `p95 × ${median.toFixed(2)}` })
  assert.ok(median <= 1.2, `× ${ratios.map((one) => one.toFixed(2)).join(', ')}`)
  /** Gives each webhook that hangs as many attempts as it gets, and some more that wait. */
  async function hang({ call }: Service, { received }: typeof hanging) {
    received.length = 0
    for (const id of dead) await act(call, id, 'resume')
    for (let n = 0; n < 6; n++) await company(call)
    await hanging.waitFor(each, 30_000)
  }

  /** Ends what hangs: paused webhooks keep the rest of it. */
  async function drop({ call }: Service, { received }: typeof hanging) {
    for (const id of dead) await act(call, id, 'pause')
    hanging.drop()
    await until(
      async () => /^rapport_deliveries_in_flight (\d+)$/m.exec((await call('GET', '/metrics')).text)?.[1],
      (in_flight) => in_flight === '0',
    )
    received.length = 0
  }
})

/** The 95th percentile of the milliseconds from the answer to a change until the event arrives, over all healthy webhooks. */
async function measure({ call }: Service, arrivals: Map<number, number[]>): Promise<number> {
  const all: number[] = []
  for (let n = 0; n < events_a_round; n++) {
    const before = performance.now()
    const { body } = await call('POST', '/api/v1/deals', { name: 'Relaunch' })
    const { id } = body.data
    await until(
      async () => arrivals.get(id)?.length ?? 0,
      (arrived) => arrived === each,
    )
    all.push(...(arrivals.get(id) ?? []).map((at) => at - before))
    arrivals.delete(id)
  }
  assert.equal(await total(call, 'event=deal.created&status=failed'), 0)
  return all.sort((a, b) => a - b)[Math.floor(all.length * 0.95)] as number
}
