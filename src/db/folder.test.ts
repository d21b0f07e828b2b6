// runs: once
import assert from 'node:assert/strict'
import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { scratchFolder } from '../../test/process.ts'
import { makeFolder } from './folder.ts'

test('a folder is made with those above it, for its owner only, and stays if it is there', (t) => {
  const above = join(scratchFolder(t), 'above')
  const folder = join(above, 'folder')
  for (let times = 0; times < 2; times++) makeFolder(folder, 0o700)
  assert.deepEqual([statSync(folder).mode & 0o777, statSync(above).mode & 0o777], [0o700, 0o700])
})

test('a folder that cannot be made is named in the error', (t) => {
  const file = join(scratchFolder(t), 'file')
  writeFileSync(file, '')
  assert.throws(() => makeFolder(file), /file cannot be created \(EEXIST\)/)
  assert.throws(() => makeFolder('/proc/none/of/these'), /\/proc\/none cannot be created \(ENOENT\)/)
})
