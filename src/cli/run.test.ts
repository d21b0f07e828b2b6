import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { settingsOf } from '../../test/engine.ts'
import { cannotMount, mountSmallDisk } from '../../test/faults/small-disk.ts'
import { main, runRapport, scratchFolder } from '../../test/process.ts'
import { mainOf } from '../resources/derived.ts'
import { resources, rooms } from '../resources/index.ts'
import type { CommandEntry } from './command.ts'
import { commands } from './commands.ts'
import { runCommand } from './run.ts'

async function run(words: string[], env: Record<string, string> = {}) {
  const out: string[] = []
  const err: string[] = []
  const code = await runCommand(words, { out: (line) => out.push(line), err: (line) => err.push(line), env })
  return { code, out: out.join('\n'), err: err.join('\n') }
}

const paths = (entries: Record<string, CommandEntry>, above: string[] = []): string[][] =>
  Object.entries(entries).flatMap(([name, entry]) => {
    const path = [...above, name]
    return 'commands' in entry ? [path, ...paths(entry.commands, path)] : [path]
  })

test('the help of imports and exports names every kind of record that they take', async () => {
  const kinds = {
    import: rooms.filter((room) => room.import).map(({ resource }) => resource),
    export: mainOf(resources),
  }
  for (const [command, taken] of Object.entries(kinds)) {
    const { out } = await run([command, '--help'])
    const named = /^RESOURCE is (.+?)[.:] /m.exec(out)?.[1]?.split(/, | or /)
    assert.deepEqual(
      named,
      taken.map(({ table }) => table),
    )
  }
})

test('every command and every group has --help, which succeeds and says how it is used', async () => {
  const all = paths(commands)
  assert.ok(all.length >= 13)
  for (const path of all)
    for (const flag of ['--help', '-h']) {
      const { code, out, err } = await run([...path, flag])
      assert.equal(code, 0, path.join(' '))
      assert.ok(out.startsWith(`Usage: rapport ${path.join(' ')}`), out)
      assert.equal(err, '')
    }
})

test('--help of the whole lists every command', async () => {
  const { code, out } = await run(['--help'])
  assert.equal(code, 0)
  for (const name of Object.keys(commands)) assert.match(out, new RegExp(`\\n {2}${name} `))
})

test('an unknown command exits with 2 and says what exists', async () => {
  const top = await run(['sreve'])
  assert.equal(top.code, 2)
  for (const name of Object.keys(commands)) assert.ok(top.err.includes(name), name)
  const inner = await run(['keys', 'remove', '--help'])
  assert.equal(inner.code, 2)
  assert.match(inner.err, /create, list, revoke/)
  assert.equal((await run(['toString'])).code, 2)
  assert.equal((await run(['--frob'])).code, 2)
})

test('no command at all exits with 2 and lists what exists', async () => {
  assert.match((await run([])).err, /workspaces/)
  assert.equal((await run([])).code, 2)
  const group = await run(['keys'])
  assert.equal(group.code, 2)
  assert.match(group.err, /keys revoke/)
})

test('an unknown option, a missing one and a word too many exit with 2 and show the usage', async () => {
  for (const [words, told] of [
    [['keys', 'create', '--nmae', 'x'], /--nmae/],
    [['keys', 'create'], /--name is required/],
    [['keys', 'create', '--name', ' '], /--name is required/],
    [['keys', 'create', '--name'], /--name/],
    [['keys', 'revoke'], /ID is missing/],
    [['keys', 'list', 'all'], /"all" is one word too many/],
    [['backup'], /FILE is missing/],
    [['restore', ''], /FILE is missing/],
    [['export', 'contacts', ' '], /FILE is missing/],
    [['export', 'workspace', 'all.zip'], /all\.zip must end in \.tar\.gz/],
  ] as const) {
    const { code, out, err } = await run([...words])
    assert.equal(code, 2, words.join(' '))
    assert.match(err, told)
    assert.match(err, new RegExp(`Usage: rapport ${words[0]}`))
    assert.equal(out, '')
  }
})

test('config shows every setting and hides secrets', async () => {
  const { code, out } = await run(['config'], { SECRET_KEY: 'very-secret', PORT: '4000' })
  assert.equal(code, 0)
  assert.match(out, /^PORT=4000 /m)
  assert.match(out, /^SECRET_KEY=\(hidden\)/m)
  assert.ok(!out.includes('very-secret'))
})

test('every problem with the settings is reported at once, and exits with 1', async () => {
  const env = { PORT: 'none', LOG_LEVEL: 'loud' }
  for (const words of [['config'], ['serve'], ['keys', 'list']]) {
    const { code, err } = await run(words, env)
    assert.equal(code, 1)
    assert.deepEqual(
      err.split('\n').map((line) => line.split(' ')[1]),
      ['PORT', 'LOG_LEVEL'],
    )
  }
})

test('a failure is one line without a stack, and exits with 1', async () => {
  const { code, out, err } = await run(['keys', 'list'], { DATA_DIR: fileURLToPath(import.meta.url) })
  assert.equal(code, 1)
  assert.equal(out, '')
  assert.equal(err.split('\n').length, 1)
  assert.match(err, /^rapport: /)
})

test('a command on a read-only file system says so', { skip: cannotMount() }, async (t) => {
  const { folder: DATA_DIR } = mountSmallDisk(t, { megabytes: 8, filled: 0 })
  const made = await run(['workspaces', 'create', '--name', 'One'], { DATA_DIR })
  assert.deepEqual([made.code, made.err], [0, ''])
  execFileSync('mount', ['-o', 'remount,ro', DATA_DIR])
  for (const words of [
    ['keys', 'list'],
    ['workspaces', 'create', '--name', 'Two'],
    ['backup', join(scratchFolder(t), 'copy.db')],
  ]) {
    const { code, err } = await run(words, { DATA_DIR })
    assert.equal(code, 1)
    assert.equal(
      err,
      `rapport: The file system of ${DATA_DIR} is read-only. Mount it for reading and writing, or choose another folder.`,
    )
  }
})

test('as a process: results on standard output, complaints on standard error, the exit code in between', async (t) => {
  const DATA_DIR = join(scratchFolder(t), 'new', 'data')
  await settingsOf(DATA_DIR, { migrated: false })
  const first = await runRapport(['migrate'], { DATA_DIR })
  assert.deepEqual([first.code, first.stderr], [0, ''])
  assert.match(first.stdout, /^Ran 0019_baseline/)
  assert.equal((await runRapport(['migrate'], { DATA_DIR })).stdout, 'The database is up to date.\n')
  const wrong = await runRapport(['nothing'], { DATA_DIR })
  assert.deepEqual([wrong.code, wrong.stdout], [2, ''])
  assert.match(wrong.stderr, /serve/)
})

/** Starts a command that writes to a file descriptor, or to a pipe that nobody reads. */
async function startWriting(t: TestContext, words: string[], stdout: 'pipe' | number) {
  const settings = await settingsOf(scratchFolder(t))
  const env = { PATH: process.env.PATH, PORT: '0', LOG_LEVEL: 'silent', ...settings }
  const child = spawn(process.execPath, [main, ...words], { env, stdio: ['ignore', stdout, 'pipe'] })
  t.after(() => child.kill('SIGKILL'))
  child.stdout?.destroy()
  const complaints = child.stderr as Readable
  const ended = Promise.all([once(child, 'close'), text(complaints)])
  return { child, complaints, ended: ended.then(([[code], told]) => ({ code, told })) }
}

const keys_create = ['keys', 'create', '--name', 'Lost']
const no_full = !existsSync('/dev/full') && 'this system has no /dev/full'

function openFull(t: TestContext): number {
  const full = openSync('/dev/full', 'w')
  t.after(() => closeSync(full))
  return full
}

test('a command whose output cannot be written says so and fails', { skip: no_full }, async (t) => {
  const { code, told } = await (await startWriting(t, keys_create, openFull(t))).ended
  assert.equal(code, 1)
  assert.match(
    told,
    /^rapport: The output could not be written: .*ENOSPC.*\. The command has run\. If it made a key, revoke it\.\n$/,
  )
})

test('a service whose output cannot be written says so and goes on; its stop is a good one', {
  skip: no_full,
}, async (t) => {
  const { child, complaints, ended } = await startWriting(t, ['serve'], openFull(t))
  for (let told = ''; !told.includes('The service goes on.'); )
    told += (await Promise.race([once(complaints, 'data'), ended.then(({ told }) => assert.fail(told))]))[0]
  child.kill('SIGTERM')
  assert.equal((await ended).code, 0)
})

test('a command whose reader has ended does not fail', async (t) => {
  const { ended } = await startWriting(t, keys_create, 'pipe')
  assert.deepEqual(await ended, { code: 0, told: '' })
})
