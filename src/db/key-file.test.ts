// runs: once
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs, { linkSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { startRapport } from '../../test/harness.ts'
import { keyFile, readSecretKey, removePartialKeys } from './seal.ts'

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

test('of two first starts on one folder, the later one uses the key of the first', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'rapport-key-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const key = Buffer.alloc(32, 1).toString('base64')
  const { openSync } = fs
  // The first start makes its key, and removes what it takes for a file of a crash.
  t.mock.method(fs, 'openSync', (path: string, flags: string, mode?: number) => {
    const handle = openSync(path, flags, mode)
    if (flags === 'wx') {
      writeFileSync(keyFile(folder), key)
      removePartialKeys(folder)
    }
    return handle
  })
  syncBuiltinESMExports()
  try {
    assert.equal(readSecretKey(null, folder), key)
  } finally {
    t.mock.restoreAll()
    syncBuiltinESMExports()
  }
  assert.deepEqual(readdirSync(folder), ['secret.key'])
})

test('on a volume without hard links, the key file is made once, and never replaces another one', (t) => {
  const key = Buffer.alloc(32, 1).toString('base64')
  const folders = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP'].map((code) => {
    const folder = mkdtempSync(join(tmpdir(), 'rapport-key-'))
    t.after(() => rmSync(folder, { recursive: true }))
    return { folder, code }
  })
  try {
    for (const is_taken of [false, true])
      for (const { folder, code } of folders) {
        rmSync(keyFile(folder), { force: true })
        t.mock.method(fs, 'linkSync', () => {
          if (is_taken) writeFileSync(keyFile(folder), key)
          throw Object.assign(new Error(code), { code })
        })
        syncBuiltinESMExports()
        const made = readSecretKey(null, folder)
        assert.equal(made === key, is_taken)
        assert.equal(readSecretKey(null, folder), made)
        assert.deepEqual(readdirSync(folder), ['secret.key'])
        if (!is_taken) assert.equal(statSync(keyFile(folder)).mode & 0o777, 0o600)
        t.mock.restoreAll()
      }
  } finally {
    t.mock.restoreAll()
    syncBuiltinESMExports()
  }
})

test('a start removes what a crash left of the making of the key file, and keeps the other files', async () => {
  const data_dir = mkdtempSync(join(tmpdir(), 'rapport-key-'))
  const kept = ['secret.key.20261127', 'secret.key.bak', 'secret.key.replaced-20261127T134500000Z']
  try {
    await (await startRapport({ data_dir })).stop()
    linkSync(keyFile(data_dir), join(data_dir, 'secret.key.partial-0a1b2c3d'))
    for (const name of [...kept, 'secret.key.partial-89abcdef']) writeFileSync(join(data_dir, name), '')
    await (await startRapport({ data_dir })).stop()
    const names = readdirSync(data_dir).filter((name) => name.startsWith('secret.key.'))
    assert.deepEqual(names.sort(), kept)
  } finally {
    rmSync(data_dir, { recursive: true })
  }
})

// Kills itself at the nth call of a function that changes files.
const killed = `
  import fs from 'node:fs'
  import { syncBuiltinESMExports } from 'node:module'
  const [folder, seal, at] = process.argv.slice(1)
  const { readSecretKey } = await import(seal)
  let calls = 0
  for (const name of ['openSync', 'writeSync', 'fsyncSync', 'linkSync', 'renameSync', 'rmSync', 'closeSync']) {
    const original = fs[name]
    fs[name] = (...words) => {
      if (++calls > Number(at)) process.kill(process.pid, 'SIGKILL')
      if (name === 'linkSync') throw Object.assign(new Error('EPERM'), { code: 'EPERM' })
      return original(...words)
    }
  }
  syncBuiltinESMExports()
  readSecretKey(null, folder)
`

test('on a volume without hard links, a kill at any step leaves no incomplete key file: the next start makes it', (t) => {
  const seal = new URL('./seal.ts', import.meta.url).href
  for (let at = 0; ; at++) {
    const folder = mkdtempSync(join(tmpdir(), 'rapport-key-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const words = ['--input-type=module', '-e', killed, folder, seal, String(at)]
    const { signal, status, stderr } = spawnSync(process.execPath, words)
    assert.ok(signal === 'SIGKILL' || status === 0, String(stderr))
    t.mock.method(fs, 'linkSync', () => {
      throw Object.assign(new Error('EPERM'), { code: 'EPERM' })
    })
    syncBuiltinESMExports()
    const key = readSecretKey(null, folder)
    t.mock.restoreAll()
    syncBuiltinESMExports()
    assert.equal(Buffer.from(key, 'base64').length, 32)
    removePartialKeys(folder)
    assert.deepEqual(readdirSync(folder), ['secret.key'])
    if (status === 0) return assert.ok(at > 5, `${at} steps`)
  }
})
