// runs: once, source
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startService } from '../../test/faults/service.ts'
import { scratchFolder } from '../../test/process.ts'
import { metricsOf } from '../../test/workers.ts'

// In a run of all tests, workers.test.ts runs the bundle, and this file the sources.

test('two processes from the sources serve one port, and SIGTERM ends them with 0', async (t) => {
  const service = await startService(scratchFolder(t), { env: { WEB_CONCURRENCY: '2' } })
  t.after(() => service.end('SIGKILL'))
  await metricsOf(service, 2)
  assert.equal(await service.end('SIGTERM'), 0)
})
