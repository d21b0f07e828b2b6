import assert from 'node:assert/strict'
import { test } from 'node:test'
import { calmTime } from '../calm-time.ts'
import { startService } from '../faults/service.ts'
import { follow } from '../follower.ts'
import { scratchFolder } from '../process.ts'

test('every stream of several processes on one file brings the events of all of them, once and in order', async (t) => {
  const service = await startService(scratchFolder(t), { env: { WEB_CONCURRENCY: '2' } })
  t.after(() => service.end('SIGKILL'))
  const streams = await Promise.all(Array.from({ length: 8 }, () => follow(service.url, service.key)))
  const headers = { connection: 'close' }
  for (let round = 0; round < 5; round++)
    await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        service.call('POST', '/api/v1/companies', { name: `${round}.${n}` }, headers),
      ),
    )
  const { value: all, calm_ms } = await calmTime(() =>
    Promise.all(streams.map((stream) => stream.waitFor(40))),
  )
  assert.ok(calm_ms < 3000, `${calm_ms} ms`)
  const { body } = await service.call('GET', '/api/v1/events?per_page=100')
  const expected = body.data.map((event: object) => JSON.stringify(event))
  assert.equal(expected.length, 40)
  for (const events of all)
    assert.deepEqual(
      events.map(({ data }) => data),
      expected,
    )
  assert.equal(await service.end('SIGTERM'), 0)
  await Promise.all(streams.map((stream) => stream.ended))
})
