// runs: once
import assert from 'node:assert/strict'
import {
  accessSync,
  chownSync,
  constants,
  linkSync,
  lstatSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { cannotGive, nobody } from '../../test/other-user.ts'
import { scratchFolder } from '../../test/process.ts'
import { giveToOwner, makeFolder, writeProblem } from './folder.ts'

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

const ownedBy = (uid: number, files: string[]) => files.filter((file) => lstatSync(file).uid === uid)

test('a file that root made goes to the owner of its folder; a file of root behind a link does not', {
  skip: cannotGive(),
}, (t) => {
  const folder = scratchFolder(t)
  chownSync(folder, nobody.uid, nobody.gid)
  const victim = join(scratchFolder(t), 'victim')
  const [made, soft, hard, dangling, of_other] = ['made', 'soft', 'hard', 'dangling', 'of_other'].map(
    (name) => join(folder, name),
  ) as [string, string, string, string, string]
  for (const file of [victim, made, of_other]) writeFileSync(file, '')
  symlinkSync(victim, soft)
  linkSync(victim, hard)
  symlinkSync(join(folder, 'none'), dangling)
  chownSync(of_other, 65_532, 65_532)
  const all = [made, soft, hard, dangling, of_other]
  for (const file of all) giveToOwner(file)
  assert.deepEqual(ownedBy(nobody.uid, all), [made])
  assert.equal(statSync(made).gid, nobody.gid)
  assert.deepEqual(ownedBy(0, [victim, ...all]), [victim, soft, hard, dangling])
})

test("in root's folder the files stay root's", { skip: cannotGive() }, (t) => {
  const file = join(scratchFolder(t), 'file')
  writeFileSync(file, '')
  giveToOwner(file)
  assert.equal(statSync(file).uid, 0)
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
