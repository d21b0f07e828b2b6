// runs: both
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { engine } from '../../test/engine.ts'
import { startService } from '../../test/faults/service.ts'
import { runRapport, scratchFolder } from '../../test/process.ts'
import { startReceiver } from '../../test/receiver.ts'
import { useFor } from '../../test/use.ts'
import { company, log, register, until } from '../../test/webhooks.ts'
import { metricsOf, startWorkers } from '../../test/workers.ts'

const three = { WEB_CONCURRENCY: '3' }
const two = { WEB_CONCURRENCY: '2' }

/** For the tests that end none of its processes. */
let steady: Awaited<ReturnType<typeof startWorkers>>
const ends: (() => unknown)[] = []
before(async () => {
  steady = await startWorkers({ after: (end) => void ends.push(end as () => unknown) }, three)
})
after(async () => {
  for (const end of ends.reverse()) await end()
})

const sample = (text: string, name: string) =>
  Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.split(' ')
      .at(-1) ?? 0,
  )

test('several processes serve one port, and /metrics of any of them counts what all of them did', async () => {
  const service = steady
  assert.equal(service.workers().length, 3)
  const ids = new Set<string>()
  for (let n = 0; n < 30; n++) {
    const { status, headers } = await service.call('GET', '/api/v1/companies', undefined, {
      connection: 'close',
    })
    assert.equal(status, 200)
    // The start of its process, and a number.
    ids.add(String(headers.get('x-request-id')).slice(0, -5))
  }
  // Two may have started in the same millisecond.
  assert.ok(ids.size === 2 || ids.size === 3, `${[...ids]}`)
  const counted = 'rapport_http_requests_total{method="GET",route="/api/v1/companies",status="200"}'
  const one = await metricsOf(service, 3)
  assert.equal(sample(one, counted), 30)
  assert.equal(sample(one, 'rapport_http_request_seconds_count{method="GET",route="/api/v1/companies"}'), 30)
  const build = new RegExp(
    `^rapport_build_info\\{version="[\\d.]+",node="[\\d.]+",engine="${engine}"\\} 3$`,
    'm',
  )
  assert.match(one, build)
})

test('writes through any of them are delivered once each', async (t) => {
  const receiver = await useFor(t, startReceiver())
  const service = steady
  const hook = await register(service.call, { url: receiver.url })
  const made = await Promise.all(Array.from({ length: 30 }, () => company(service.call)))
  await receiver.waitFor(30)
  await until(
    () => log(service.call),
    (all) => all.every(({ status }) => status === 'succeeded'),
  )
  const told = receiver.received.map(({ body }) => JSON.parse(body).data.id)
  assert.deepEqual(told.sort(), made.map(({ id }) => id).sort())
  await receiver.verify(hook.secret)
})

test('a start that cannot serve ends all processes and is reported once', async (t) => {
  const service = steady
  const { port } = new URL(service.url)
  const { code, stderr } = await runRapport(['serve'], { ...two, DATA_DIR: scratchFolder(t), PORT: port })
  assert.equal(code, 1)
  assert.match(stderr, new RegExp(`Port ${port} on 127\\.0\\.0\\.1 is in use`))
})

test('the folder of several processes on SQLite is theirs alone; a database on PostgreSQL is everybody’s', async (t) => {
  const service = steady
  const startAnother = () => runRapport(['serve'], { DATA_DIR: service.data_dir, PORT: '0' })
  if (engine === 'sqlite') {
    const { code, stderr } = await startAnother()
    assert.equal(code, 1)
    assert.match(stderr, /^rapport: Another process already serves .*\. .*\n$/)
    return
  }
  const other = await startService(service.data_dir, { key: service.key })
  t.after(() => other.end('SIGKILL'))
  assert.equal((await other.call('GET', '/api/v1/companies')).status, 200)
})
