import assert from 'node:assert/strict'
import { test } from 'node:test'
import { calmTime } from '../calm-time.ts'
import { startService } from '../faults/service.ts'
import { follow } from '../follower.ts'
import { scratchFolder } from '../process.ts'
import { bestOfTen } from '../statements.ts'

test('every stream of several processes on one file brings the events of all of them, once and in order', async (t) => {
  const service = await startService(scratchFolder(t), { env: { WEB_CONCURRENCY: '2' } })
  t.after(() => service.end('SIGKILL'))
  const streams = await Promise.all(Array.from({ length: 8 }, () => follow(service.url, service.key)))
  const headers = { connection: 'close' }
  let made = 0
  const eight = () =>
    Promise.all(
      Array.from({ length: 8 }, () =>
        service.call('POST', '/api/v1/companies', { name: `No ${++made}` }, headers),
      ),
    )
  for (let round = 0; round < 4; round++) await eight()
  const { value: all, calm_ms } = await bestOfTen(
    async () => {
      await eight()
      return calmTime(() => Promise.all(streams.map((stream) => stream.waitFor(made))))
    },
    (one) => one.calm_ms < 3000,
  )
  assert.ok(calm_ms < 3000, `${calm_ms} ms`)
  const expected: string[] = []
  for (let cursor = '0', more = true; more; ) {
    const { body } = await service.call('GET', `/api/v1/events?per_page=100&cursor=${cursor}`)
    expected.push(...body.data.map((event: object) => JSON.stringify(event)))
    cursor = body.meta.next_cursor
    more = body.meta.has_more
  }
  assert.equal(expected.length, made)
  for (const events of all)
    assert.deepEqual(
      events.map(({ data }) => data),
      expected,
    )
  assert.equal(await service.end('SIGTERM'), 0)
  await Promise.all(streams.map((stream) => stream.ended))
})
