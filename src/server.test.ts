import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { readConfig } from './config.ts'
import { startServer } from './server.ts'

test('a start that fails leaves nothing open, and no key that nobody saw', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'rapport-start-'))
  const config = (env: Record<string, string> = {}) =>
    readConfig({ PORT: '0', DATA_DIR: folder, LOG_LEVEL: 'silent', ...env })
  try {
    const file = join(folder, 'rapport.db')
    writeFileSync(file, 'this is no database, and long enough to be told from one')
    await assert.rejects(startServer(config()), /not a database/)
    rmSync(file)
    await assert.rejects(startServer(config({ HOST: '203.0.113.1' })), /EADDRNOTAVAIL/)
    const running = await startServer(config())
    assert.match(running.first_key ?? '', /^crm_/)
    // Both callers of stop wait for the same end.
    await Promise.all([running.stop(), running.stop()])
    const again = await startServer(config())
    assert.equal(again.first_key, null)
    await again.stop()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
