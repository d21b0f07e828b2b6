import { Agent, request } from 'undici'
import { type Engine, engines, runNode, withEngine } from '../test/engines.ts'
import { type Rapport, startRapport } from '../test/harness.ts'

// Compares a batch of 1,000 with 1,000 single requests, one after the other and with 32 clients: node bench/batch.ts

const count = 1000
const rounds = 5
const median = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number

const contact = (n: number) => ({
  first_name: `Ana${n}`,
  last_name: `Ruiz ${n % 97}`,
  email: `ana.ruiz.${n}@acme.example`,
  phone: '+34 910 55 01 42',
  stage: ['lead', 'customer', 'partner'][n % 3],
})

async function measure(rapport: Rapport): Promise<void> {
  const dispatcher = new Agent({ connections: 32 })
  const send = async (path: string, body: object) => {
    const answer = await request(rapport.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${rapport.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      dispatcher,
    })
    if (answer.statusCode >= 300) throw new Error(await answer.body.text())
    await answer.body.dump()
  }
  let n = 0
  const path = '/api/v1/contacts'
  const single = (clients: number) => async () => {
    let left = count
    await Promise.all(
      Array.from({ length: clients }, async () => {
        while (left-- > 0) await send(path, contact(n++))
      }),
    )
  }
  const batch = () =>
    send(`${path}/batch`, {
      items: Array.from({ length: count }, () => ({ op: 'create', data: contact(n++) })),
    })
  const cases = { 'one by one': single(1), '32 clients': single(32), batch }
  const times = Object.fromEntries(Object.keys(cases).map((name) => [name, [] as number[]]))
  for (let round = 0; round <= rounds; round++)
    for (const [name, run] of Object.entries(cases)) {
      const began = performance.now()
      await run()
      if (round) times[name]?.push(performance.now() - began)
    }
  for (const [name, list] of Object.entries(times)) {
    const ms = median(list)
    console.log(`${name}: ${ms.toFixed(0)} ms, ${Math.round((count / ms) * 1000)} per second`)
  }
  await dispatcher.close()
}

const [only] = process.argv.slice(2)
if (process.env.TEST_ENGINE) {
  const rapport = await startRapport()
  await measure(rapport)
  await rapport.close()
} else
  for (const engine of engines)
    if (!only || only === engine)
      await withEngine(engine as Engine, async (env) => {
        console.log(engine)
        await runNode([import.meta.filename], env)
      })
