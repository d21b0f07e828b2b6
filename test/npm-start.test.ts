// runs: once
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { removeScratch, settingsOf } from './engine.ts'

test('a SIGTERM to npm start stops the server itself, and npm ends with it, with 0', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'rapport-npm-'))
  const npm = spawn('npm', ['start'], {
    cwd: new URL('..', import.meta.url),
    env: { ...process.env, PORT: '0', ...(await settingsOf(folder)) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(npm, 'exit')
  try {
    let url = ''
    for await (const line of createInterface({ input: npm.stdout })) {
      url = /Rapport serves (\S+)/.exec(line)?.[1] ?? ''
      if (url) break
    }
    assert.equal((await fetch(`${url}/healthz`)).status, 200)
    npm.kill('SIGTERM')
    assert.deepEqual(await ended, [0, null])
    await assert.rejects(fetch(`${url}/healthz`), 'the server is gone too')
  } finally {
    npm.kill('SIGKILL')
    await removeScratch(folder)
  }
})
