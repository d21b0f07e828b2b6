import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, test } from 'node:test'
import { startRapport } from '../../../../test/harness.ts'
import { beside } from '../../../../test/keys.ts'
import { cannotLeaveRoot, nobody } from '../../../../test/other-user.ts'
import { runRapport, scratchFolder, serveProcess } from '../../../../test/process.ts'
import { listWorkspaces } from '../../../access/workspaces.ts'
import { lockFolder } from './lock.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rapport-test-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('one process serves a folder: a second start says so, and the first is not disturbed', async () => {
  const first = await startRapport({ data_dir: folder })
  await assert.rejects(
    startRapport({ data_dir: folder }),
    /Another process already serves .*\. Stop it, or set DATA_DIR/,
  )
  assert.equal((await first.call('POST', '/api/v1/companies', { name: 'Acme' })).status, 201)
  // Commands work beside it.
  assert.equal((await beside(folder, listWorkspaces)).length, 1)
  await first.close()
  await (await startRapport({ data_dir: folder })).close()
})

test('a folder that a start makes is for its owner only, and so is the lock. A user who can read the file can lock it', async () => {
  const data_dir = join(folder, 'new')
  await (await startRapport({ data_dir, env: { DATABASE_URL: '' } })).close()
  const [of_folder, of_lock] = [data_dir, join(data_dir, 'serve.lock')].map((path) => statSync(path).mode)
  assert.deepEqual([Number(of_folder) & 0o777, Number(of_lock) & 0o777], [0o700, 0o600])
})

test('a lock that an earlier version left readable by everybody is for its owner only after a start', () => {
  const lock = join(folder, 'serve.lock')
  writeFileSync(lock, '')
  chmodSync(lock, 0o644)
  const unlock = lockFolder(folder)
  assert.equal(statSync(lock).mode & 0o777, 0o600)
  assert.throws(() => lockFolder(folder), /Another process already serves/)
  unlock()
})

test('the lock goes with its process, even when that is killed', async () => {
  const script = `
    import { lockFolder } from ${JSON.stringify(new URL('lock.ts', import.meta.url))}
    lockFolder(process.argv[1])
    console.log('locked')
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, folder])
  await once(child.stdout, 'data')
  assert.throws(() => lockFolder(folder), /Another process already serves/)
  child.kill('SIGKILL')
  await once(child, 'exit')
  lockFolder(folder)()
})

test('a folder or a lock that this user cannot write is refused: SQLite would lock nothing', {
  skip: cannotLeaveRoot(),
}, async () => {
  const script = `
    import { lockFolder } from ${JSON.stringify(new URL('lock.ts', import.meta.url))}
    if (process.getuid() === 0) process.setuid(${nobody.uid})
    try {
      lockFolder(process.argv[1])
      console.log('locked')
    } catch (error) {
      console.log(error.message)
    }`
  const told = async () => text(spawn(process.execPath, ['--input-type=module', '-e', script, folder]).stdout)
  const lock = join(folder, 'serve.lock')
  writeFileSync(lock, '', { mode: 0o444 })
  chmodSync(folder, 0o777)
  assert.match(await told(), /cannot write to .*serve\.lock \(EACCES\)\. Run this as the user/)
  rmSync(lock)
  chmodSync(folder, 0o555)
  assert.match(await told(), /cannot write to \S+ \(EACCES\)/)
  chmodSync(folder, 0o666)
  assert.match(await told(), new RegExp(`cannot write to ${folder} \\(EACCES\\)`))
  chmodSync(folder, 0o777)
  assert.equal(await told(), 'locked\n')
})

test('a serve.lock that is not a regular file is refused, and a dangling link creates no file', (t) => {
  const lock = join(folder, 'serve.lock')
  const target = join(scratchFolder(t), 'target')
  symlinkSync(target, lock)
  assert.throws(() => lockFolder(folder), /serve\.lock is not a regular file\. Remove it\.$/)
  assert.equal(existsSync(target), false)
  writeFileSync(target, '')
  assert.throws(() => lockFolder(folder), /serve\.lock is not a regular file/)
  rmSync(lock)
  mkdirSync(lock)
  assert.throws(() => lockFolder(folder), /serve\.lock is not a regular file/)
})

test('folders are locked each for itself, and a released one can be locked again', () => {
  const other = join(folder, 'made/when/needed')
  const release = [lockFolder(folder), lockFolder(other)]
  assert.throws(() => lockFolder(other), /Another process/)
  for (const unlock of release) unlock()
  lockFolder(other)()
})

test('a second process on the folder says so and exits with 1; the first goes on', async (t) => {
  const DATA_DIR = scratchFolder(t)
  const server = await serveProcess(t, { DATA_DIR })
  const second = await runRapport(['serve'], { DATA_DIR, PORT: '0' })
  assert.equal(second.code, 1)
  assert.match(second.stderr, /^rapport: Another process already serves .*DATA_DIR.*\n$/)
  assert.equal((await fetch(`${server.url}/healthz`)).status, 200)
})
