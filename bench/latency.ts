import type { Databases, Engine } from './databases.ts'
import { inTurn, load, median, quantile } from './load.ts'
import { startReceiver } from './receivers.ts'
import { head, line, whole } from './record.ts'
import { create } from './requests.ts'
import { startRapport } from './servers.ts'

// The time from a commit to the receipt of its webhook, while clients create contacts at half the rate that the service can
// both store and deliver.

const clients = 32
const most_ms = { sqlite: 25, postgres: 50 }

/** Returns the table of latencies of deliveries at half load. */
export async function measureLatency(
  databases: Databases,
  engine: Engine,
  { rounds, seconds }: { rounds: number; seconds: number },
): Promise<string[]> {
  const filled = await databases.fill('latency', 1000)
  const { key } = filled
  const server = await startRapport(filled)
  const receiver = await startReceiver()
  const { secret } = await register(server.port, key, receiver.url)
  /** Creates contacts, and waits for the receipt of all of them. */
  const run = async (rate?: number) => {
    const before = Date.now()
    let count = 0
    await load(server.port, { clients, seconds, rate }, () => {
      count++
      return create(key)
    })
    await receiver.received(count)
    const { delays_ms, last_ms, bad_signatures } = await receiver.report(secret)
    if (bad_signatures) throw new Error(`${bad_signatures} deliveries have an invalid signature.`)
    return { delays_ms, rate: (count / (last_ms - before)) * 1000 }
  }
  let full = 0
  const medians: number[] = []
  const measured = await inTurn(['full', 'half'], rounds, async (side, is_warm_up) => {
    if (side === 'full') {
      full = (await run()).rate
      return full
    }
    const { delays_ms } = await run(full / 2)
    if (!is_warm_up) medians.push(median(delays_ms))
    return quantile(delays_ms, 0.95)
  })
  receiver.close()
  await server.stop()
  const ms = (n: number) => `${Math.round(n)} ms`
  const cells = ['commit → receipt at half load', whole(median(measured.full)), ms(median(medians))]
  return [
    ...head(
      'latency',
      'full load, creates per second',
      'half the deliveries',
      '95 % of the deliveries (median)',
    ),
    line(cells, measured.half, { most: most_ms[engine] }, ms),
  ]
}

async function register(port: number, key: string, url: string): Promise<{ secret: string }> {
  const response = await fetch(`http://127.0.0.1:${port}/api/v1/webhooks`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ url, events: ['contact.created'] }),
  })
  if (response.status !== 201) throw new Error(`No webhook: ${await response.text()}`)
  return ((await response.json()) as { data: { secret: string } }).data
}
