// runs: once
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { root } from './root.ts'

/** Runs install.sh beside an executable that is a script. */
function install(t: TestContext, script: string) {
  const folder = mkdtempSync(join(tmpdir(), 'rapport-install-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  copyFileSync(join(root, 'release/install.sh'), join(folder, 'install.sh'))
  writeFileSync(join(folder, 'rapport'), script, { mode: 0o755 })
  const target = join(folder, 'a new', 'folder')
  const { status, stdout, stderr } = spawnSync('sh', [join(folder, 'install.sh'), target], {
    encoding: 'utf8',
  })
  return { status, stdout, stderr, target, script: join(folder, 'rapport') }
}

test('install.sh copies an executable that starts, and says where', (t) => {
  const { status, stdout, target, script } = install(t, '#!/bin/sh\necho 1.2.3\n')
  assert.equal(status, 0)
  assert.equal(stdout, `Installed rapport 1.2.3 in ${target}.\n`)
  assert.deepEqual(readFileSync(join(target, 'rapport')), readFileSync(script))
})

// Each is what the system says of an executable that it cannot start.
const problems: [says: string, told: RegExp][] = [
  ['error while loading shared libraries: libstdc++.so.6: cannot open', /libstdc\+\+6/],
  ['error while loading shared libraries: libatomic.so.1: cannot open', /libatomic1/],
  ["/lib/libc.so.6: version `GLIBC_2.28' not found (required by rapport)", /older than 2\.28/],
  ['rapport: cannot execute binary file: Exec format error', /for another processor than \S+\.$/m],
  ['rapport: cannot execute: required file not found', /This executable needs glibc/],
  ['Illegal instruction', /does not start: Illegal instruction/],
]

for (const [says, told] of problems)
  test(`install.sh installs nothing, and says what to do, if the system says: ${says}`, (t) => {
    const { status, stdout, stderr, target } = install(
      t,
      `#!/bin/sh\ncat >&2 <<'END'\n${says}\nEND\nexit 127\n`,
    )
    assert.deepEqual([status, stdout], [1, ''])
    assert.match(stderr, /^rapport: /)
    assert.match(stderr, told)
    assert.ok(!existsSync(target))
  })

test('install.sh says that glibc is missing if the loader of the executable does not exist', (t) => {
  const { status, stderr } = install(t, '#!/lib/no-such-loader\n')
  assert.equal(status, 1)
  assert.match(stderr, /^rapport: This executable needs glibc/)
})
