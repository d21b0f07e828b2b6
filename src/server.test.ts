import assert from 'node:assert/strict'
import { test } from 'node:test'
import { settingsOf } from '../test/engine.ts'
import { scratchFolder } from '../test/process.ts'
import { readConfig } from './config.ts'
import { startServer } from './server.ts'

test('a start that fails leaves nothing open, and no key that nobody saw', async (t) => {
  const found = await settingsOf(scratchFolder(t))
  const config = (env: Record<string, string> = {}) =>
    readConfig({ PORT: '0', ...found, LOG_LEVEL: 'silent', ...env })
  await assert.rejects(startServer(config({ HOST: '203.0.113.1' })), /EADDRNOTAVAIL/)
  const running = await startServer(config())
  assert.match(running.first_key ?? '', /^crm_/)
  // Both callers of stop wait for the same end.
  await Promise.all([running.stop(), running.stop()])
  const again = await startServer(config())
  assert.equal(again.first_key, null)
  await again.stop()
})
