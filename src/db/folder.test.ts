// runs: once
import assert from 'node:assert/strict'
import { accessSync, constants, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { scratchFolder } from '../../test/process.ts'
import { makeFolder, writeProblem } from './folder.ts'

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

/** The place of a read-only file system; null if this machine has none. */
function readOnlyPlace(): string | null {
  if (process.platform !== 'linux') return null
  const places = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
  const isReadOnly = (place: string) => {
    try {
      accessSync(place, constants.W_OK)
      return false
    } catch (error) {
      return (error as { code?: string }).code === 'EROFS'
    }
  }
  return places.find(isReadOnly) ?? null
}

const read_only_place = readOnlyPlace()

test('a read-only file system is named as such: another owner would not help', {
  skip: read_only_place === null && 'no file system is read-only here',
}, () => {
  const { message, mend } = writeProblem(read_only_place as string) ?? {}
  assert.equal(message, `The file system of ${read_only_place} is read-only.`)
  assert.doesNotMatch(mend ?? '', /owner/)
})
