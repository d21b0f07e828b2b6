import { setTimeout as pause } from 'node:timers/promises'
import type { Reply } from '../../harness.ts'
import type { Call } from '../../webhooks.ts'
import { createChance } from '../history/random.ts'

const clients = 8

/** Requests of all kinds to a fixed number of records, so that only the log of what happened grows. */
export async function createLoad(call: Call) {
  const chance = createChance(1)
  const records: { resource: string; id: number }[] = []
  const make = async (resource: string, body: object) => {
    const { body: made } = await call('POST', `/api/v1/${resource}`, body)
    records.push({ resource, id: made.data.id })
  }
  for (let n = 0; n < 100; n++) {
    await make('contacts', { first_name: 'Ana', last_name: `Ruiz ${n}` })
    await make('companies', { name: `Acme ${n}` })
    await make('deals', { name: `Deal ${n}`, value: n })
  }
  const field = { contacts: 'title', companies: 'industry', deals: 'source' } as Record<string, string>
  const stages = ['new_lead', 'demo', 'proposal', 'negotiation']
  let requests = 0
  let refused = 0

  async function one() {
    const { resource, id } = chance.oneOf(records)
    const at = `/api/v1/${resource}/${id}`
    const what = chance.weighted({
      get: 30,
      list: 15,
      search: 5,
      change: 30,
      stage: 8,
      again: 4,
      feed: 3,
      log: 3,
    })
    const reply = await {
      get: () => call('GET', at),
      list: () => call('GET', `/api/v1/${resource}`),
      search: () => call('GET', `/api/v1/contacts?search=ruiz%20${chance.below(100)}`),
      change: () => call('PUT', at, { [field[resource] as string]: chance.text(12) }),
      stage: () => changeStage(ofDeal(), chance.oneOf(stages)),
      again: () => call('PUT', at, {}, { 'if-match': '*' }),
      feed: () => call('GET', '/api/v1/events?sort=-timestamp&per_page=20'),
      log: () => call('GET', '/api/v1/deliveries?per_page=20'),
    }[what]()
    count(reply)
  }
  function count({ status }: Reply) {
    requests++
    if (status >= 400) refused++
  }
  const changeStage = (id: number, stage: string) =>
    call('POST', `/api/v1/deals/${id}/change-stage`, { stage })
  const ofDeal = () => chance.oneOf(records.filter(({ resource }) => resource === 'deals')).id

  /** Each client waits so long between the starts of two requests; 0: as many as the service takes. */
  async function run(until_ms: number, every_ms: number) {
    const work = async () => {
      while (performance.now() < until_ms) {
        const start = performance.now()
        await one()
        const left = every_ms - (performance.now() - start)
        if (left > 0) await pause(left)
      }
    }
    await Promise.all(Array.from({ length: clients }, work))
  }

  /** Wins a deal at this interval, however fast the service is. */
  async function win(until_ms: number, every_ms: number) {
    while (performance.now() + every_ms < until_ms) {
      await pause(every_ms)
      const id = ofDeal()
      for (const stage of ['proposal', 'won']) count(await changeStage(id, stage))
    }
  }

  return {
    requests: () => requests,
    refused: () => refused,
    run,
    win,
    /** Measures what the service takes, and returns the pause by which the clients ask for half of it. */
    async halfLoad(measure_ms: number) {
      const before = requests
      await run(performance.now() + measure_ms, 0)
      const per_second = (requests - before) / (measure_ms / 1000)
      return { per_second: per_second / 2, every_ms: (clients * 1000) / (per_second / 2) }
    },
  }
}
