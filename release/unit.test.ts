// runs: once
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from './root.ts'

const unit = readFileSync(join(root, 'ops/rapport.service'), 'utf8')
const setting = (key: string): string | undefined => new RegExp(`^${key}=(.*)$`, 'm').exec(unit)?.[1]

test('the systemd unit runs the program where install.sh puts it, in a folder that only its own user reads', () => {
  const [, folder] =
    /^target=\$\{1:-(.*)\}$/m.exec(readFileSync(join(root, 'release/install.sh'), 'utf8')) ?? []
  assert.equal(setting('ExecStart'), `${folder}/rapport serve`)
  assert.equal(setting('DynamicUser'), 'yes')
  assert.deepEqual([setting('StateDirectory'), setting('StateDirectoryMode')], ['rapport', '0700'])
  assert.ok(setting('Environment')?.split(' ').includes('DATA_DIR=/var/lib/rapport'))
  assert.equal(setting('WorkingDirectory'), '/var/lib/rapport')
})

test('systemd accepts the unit, and rates its exposure as low', (t) => {
  if (spawnSync('systemd-analyze', ['--version']).error) return t.skip('this machine has no systemd')
  const folder = mkdtempSync(join(tmpdir(), 'rapport-unit-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'rapport.service')
  // The program need not be installed here.
  writeFileSync(file, unit.replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`))
  const analyze = (...words: string[]) => spawnSync('systemd-analyze', [...words, file], { encoding: 'utf8' })
  const { status, stderr } = analyze('verify')
  // It also names faults of other units of the machine.
  const own = stderr.split('\n').filter((line) => line.includes('rapport.service'))
  assert.deepEqual([status, own], [0, []])
  // Of 100: systemd calls 20 and less OK.
  assert.equal(analyze('security', '--offline=true', '--threshold=20').status, 0)
})
