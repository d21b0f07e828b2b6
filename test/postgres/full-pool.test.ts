import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { calmTime } from '../calm-time.ts'
import { refused } from '../envelope.ts'
import { type Rapport, type Reply, startRapport } from '../harness.ts'
import { type Intruder, intrude } from '../intruder.ts'
import { bestOfTen } from '../statements.ts'

// Another program holds one record, and more requests wait for it than there are connections.

const within_ms = 6000

let rapport: Rapport
let intruder: Intruder
before(async () => {
  rapport = await startRapport({ env: { DATABASE_POOL_SIZE: '10' }, waits: {} })
  intruder = await intrude(rapport.data_dir)
})
after(async () => {
  await intruder.close()
  await rapport.close()
})

async function contact(): Promise<string> {
  const reply = await rapport.call('POST', '/api/v1/contacts', { first_name: 'Ana', last_name: 'Ruiz' })
  return `/api/v1/contacts/${reply.body.data.id}`
}

/** Keeps a contact for itself until the work has ended. */
async function holding(path: string, work: () => Promise<void>) {
  await intruder.run(`BEGIN; SELECT 1 FROM contacts WHERE id = ${path.split('/').at(-1)} FOR UPDATE`)
  await work().finally(() => intruder.run('ROLLBACK'))
}

/** Sends the request in waves, and works meanwhile. Each request is 503. Returns how long the slowest ones and the work took. */
async function allRefused(request: (n: number) => Promise<Reply>, work: () => Promise<void>) {
  const replies = Array.from({ length: 60 }, async (_, n) => {
    await pause(Math.floor(n / 15) * 700)
    const { value, calm_ms } = await calmTime(() => request(n))
    refused(value, 503, 'unavailable')
    assert.ok(Number(value.headers.get('retry-after')) >= 1)
    return calm_ms
  })
  const working = pause(1000).then(() => calmTime(work))
  const [times, { calm_ms: work_ms }] = await Promise.all([Promise.all(replies), working])
  const [longest = 0, second = 0] = times.sort((a, b) => b - a)
  return { longest, second, work_ms }
}
type Refused = Awaited<ReturnType<typeof allRefused>>
/** The work does not wait for the requests. */
const workIsQuick = ({ work_ms }: Refused) => work_ms < 3000

async function answered(method: string, path: string, body?: object) {
  const reply = await rapport.call(method, path, body)
  assert.ok(reply.status < 300, `${method} ${path}: ${reply.text}`)
}

test('changes of a held record are 503 in time, and changes of others do not wait for them', async () => {
  const { call } = rapport
  const [held, other] = [await contact(), await contact()]
  await holding(held, async () => {
    const all = () =>
      allRefused(
        (n) => call('PUT', held, { title: `Title ${n}` }),
        async () => {
          await answered('PUT', other, { title: 'Director' })
          await answered('POST', `${other}/notes`, { body: 'Met today' })
          await answered('POST', '/api/v1/companies', { name: 'Acme' })
        },
      )
    const isGood = (one: Refused) => workIsQuick(one) && one.longest < within_ms
    const best = await bestOfTen(all, isGood)
    assert.ok(isGood(best), JSON.stringify(best))
  })
  assert.equal((await call('PUT', held, { title: 'At last' })).status, 200)
})

test('reads are answered while more transactions wait for a lock than there are connections', async () => {
  const { call } = rapport
  const held = await contact()
  const paths = ['/api/v1/contacts', held, `${held}/timeline`, '/api/v1/search?q=ana', '/readyz', '/metrics']
  await holding(held, async () => {
    const all = () =>
      allRefused(
        (n) => call('POST', `${held}/notes`, { body: `Note ${n}` }),
        async () => {
          for (const path of paths) await answered('GET', path)
        },
      )
    // The server lets the first one in the queue wait twice: for its place, and then for the record.
    const isGood = (one: Refused) => workIsQuick(one) && one.second < within_ms
    const best = await bestOfTen(all, isGood)
    assert.ok(isGood(best), JSON.stringify(best))
  })
})
