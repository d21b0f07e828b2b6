// runs: once
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { makeBlob } from './binary.ts'

const folder = mkdtempSync(join(tmpdir(), 'rapport-blob-'))
after(() => rmSync(folder, { recursive: true, force: true }))

function blobIn(name: string): Buffer {
  const work = mkdtempSync(join(folder, name))
  writeFileSync(join(work, 'main.cjs'), 'console.log(new Error("x").stack)\n')
  return readFileSync(makeBlob(process.execPath, work, { useCodeCache: true }))
}

test('what the executable contains is the same wherever it is built, and names no folder of the build', () => {
  const blob = blobIn('one')
  assert.ok(blob.equals(blobIn('another-')))
  assert.ok(!blob.includes(folder))
})
