import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { makePage } from './booking.ts'
import { client } from './harness.ts'
import { firstKey, scratchFolder, serveProcess } from './process.ts'
import { until } from './webhooks.ts'
import { writeZoneFolder } from './zone-files.ts'

test('a start names the zones in use whose rules are not those of Node, and uses the newest rules', async (t) => {
  const DATA_DIR = scratchFolder(t)
  const TZDIR = join(scratchFolder(t), 'zones')
  writeZoneFolder(TZDIR, '2999a', {
    'Asia/Tokyo': { first_ms: 10 * 3_600_000, changes: [], rule: '<+10>-10' },
    'Asia/Seoul': { first_ms: 9 * 3_600_000, changes: [], rule: 'KST-9' },
  })
  const service = await serveProcess(t, { DATA_DIR })
  const call = client(service.url, firstKey(DATA_DIR))
  for (const [slug, time_zone] of [
    ['tokyo', 'Asia/Tokyo'],
    ['seoul', 'Asia/Seoul'],
  ])
    await makePage({ call }, { slug, time_zone })
  await service.stop()

  const again = await serveProcess(t, { DATA_DIR, TZDIR })
  const line = await until(
    async () => again.output().match(/^\{.*"zones".*$/m)?.[0],
    (found) => found !== undefined,
  )
  const { zones, version, source } = JSON.parse(String(line))
  assert.deepEqual([zones, version, source], [['Asia/Tokyo'], '2999a', 'system'])
  const slots = await client(again.url, firstKey(DATA_DIR))('GET', '/api/v1/booking-pages/1/slots')
  // Nine o'clock is the first time of a day there, and 17 o'clock is its end. The first time of today depends on the hour.
  const offered = new Set(slots.body.data.map(({ start_at }: { start_at: string }) => start_at.slice(11, 16)))
  assert.ok(offered.has('23:00') && !offered.has('07:30'), [...offered].join())
  await again.stop()
})
