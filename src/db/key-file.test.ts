// runs: once
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { keyFile, readSecretKey } from './seal.ts'

test('the key file is made once, whole and for its owner only; an empty or cut one stops the start', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rapport-key-'))
  try {
    const key = readSecretKey(null, folder)
    assert.equal(Buffer.from(key, 'base64').length, 32)
    assert.equal(readSecretKey(null, folder), key)
    assert.equal(statSync(keyFile(folder)).mode & 0o777, 0o600)
    assert.deepEqual(readdirSync(folder), ['secret.key'])
    for (const damaged of ['', '\n', key.slice(0, 20)]) {
      writeFileSync(keyFile(folder), damaged)
      assert.throws(() => readSecretKey(null, folder), /damaged/)
    }
    assert.equal(readSecretKey('of the environment', folder), 'of the environment')
  } finally {
    rmSync(folder, { recursive: true })
  }
})
