import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent, request } from 'undici'
import { removeScratch } from '../test/engine.ts'
import { type Engine, engines, runNode, withEngine } from '../test/engines.ts'
import { type Service, startService } from '../test/faults/service.ts'

// Compares the rate of a batch of 1,000 with that of single requests, one after the other and with 32 clients, in turn:
// node bench/batch.ts [sqlite|postgres]

const count = 1000
const rounds = 7
/** Of single requests in a round. */
const singles_count = 250
const median = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number

const contact = (n: number) => ({
  first_name: `Ana${n}`,
  last_name: `Ruiz ${n % 97}`,
  email: `ana.ruiz.${n}@acme.example`,
  phone: '+34 910 55 01 42',
  stage: ['lead', 'customer', 'partner'][n % 3],
})

type Kind = { single: [method: string, path: (id: number) => string]; item: (id: number) => object }
const path = '/api/v1/contacts'
const kinds: Record<string, Kind> = {
  create: { single: ['POST', () => path], item: (n) => ({ op: 'create', data: contact(n) }) },
  update: {
    single: ['PUT', (id) => `${path}/${id}`],
    item: (id) => ({ op: 'update', id, data: { phone: String(Math.random()) } }),
  },
  delete: { single: ['DELETE', (id) => `${path}/${id}`], item: (id) => ({ op: 'delete', id }) },
}

async function measure({ url, key }: Pick<Service, 'url' | 'key'>): Promise<void> {
  const dispatcher = new Agent({ connections: 32 })
  const send = async (method: string, at: string, body?: unknown) => {
    const answer = await request(url + at, {
      method: method as 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: body ? JSON.stringify(body) : null,
      dispatcher,
    })
    const text = await answer.body.text()
    if (answer.statusCode >= 300) throw new Error(text)
    return text
  }
  let n = 0
  const made = async (length: number) => {
    const items = Array.from({ length }, () => ({ op: 'create', data: contact(n++) }))
    const { data } = JSON.parse(await send('POST', `${path}/batch`, { items }))
    return data.map(({ id }: { id: number }) => id) as number[]
  }
  const singles = async ({ single: [method, at], item }: Kind, ids: number[], clients: number) => {
    const left = [...ids]
    const run = async () => {
      for (let id = left.pop(); id !== undefined; id = left.pop())
        await send(method, at(id), (item(id) as { data?: object }).data)
    }
    await Promise.all(Array.from({ length: clients }, run))
  }
  for (const [name, kind] of Object.entries(kinds)) {
    const cases: [string, number, (ids: number[]) => Promise<unknown>][] = [
      ['one by one', singles_count, (ids) => singles(kind, ids, 1)],
      ['32 clients', singles_count, (ids) => singles(kind, ids, 32)],
      ['batch', count, (ids) => send('POST', `${path}/batch`, { items: ids.map(kind.item) })],
    ]
    const rates = cases.map((): number[] => [])
    for (let round = 0; round <= rounds; round++)
      for (const [index, [, length, run]] of cases.entries()) {
        const ids = await made(length)
        const began = performance.now()
        await run(ids)
        if (round) rates[index]?.push((length * 1000) / (performance.now() - began))
      }
    const [one = [], many = [], batch = []] = rates
    const ratio = (others: number[]) =>
      median(batch.map((rate, n) => rate / (others[n] as number))).toFixed(1)
    const shown = cases.map(([label], index) => `${label} ${Math.round(median(rates[index] ?? []))}`)
    console.log(`${name}, per second: ${shown.join(', ')}; ratios ${ratio(one)} and ${ratio(many)}`)
  }
  await dispatcher.close()
}

const [only] = process.argv.slice(2)
if (process.env.TEST_ENGINE) {
  const folder = mkdtempSync(join(tmpdir(), 'rapport-bench-'))
  const service = await startService(folder)
  await measure(service)
  await service.end('SIGTERM')
  await removeScratch(folder)
} else
  for (const engine of engines)
    if (!only || only === engine)
      await withEngine(engine as Engine, async (env) => {
        console.log(engine)
        await runNode([import.meta.filename], env)
      })
