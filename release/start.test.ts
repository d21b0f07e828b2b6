// runs: once
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { root } from './root.ts'
import { sourcesDigest } from './sources.js'

/** A checkout whose programs say which of them runs. */
function checkout(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'rapport-start-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const write = (name: string, text: string) => {
    mkdirSync(join(folder, name, '..'), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  for (const name of ['start.js', 'sources.js'])
    cpSync(join(root, 'release', name), join(folder, 'release', name))
  write('package.json', '{"type":"module"}')
  write('src/main.ts', "console.log('the sources')")
  const run = (word: string, env: Record<string, string> = {}) =>
    spawnSync(process.execPath, [join(folder, 'release/start.js'), word], {
      encoding: 'utf8',
      env: { PATH: process.env.PATH, ...env },
    })
  return { folder, write, run }
}

test('npm start says whether it runs the sources or the build, and runs the build only if it is of these sources', (t) => {
  const { folder, write, run } = checkout(t)
  const start = (word: string) => {
    const { stdout, stderr } = run(word)
    return [stdout.trim(), stderr.split(/[.:]/)[0]]
  }
  assert.deepEqual(start('serve'), ['the sources', 'Running the sources'])
  write('dist/main.js', "console.log('the build')")
  write('dist/build.json', JSON.stringify({ sources: sourcesDigest(folder) }))
  assert.deepEqual(start('serve'), ['the build', 'Running the build in dist/, which is up to date'])
  write('src/more.ts', '')
  assert.deepEqual(start('serve'), ['the sources', 'Running the sources'])
  // The output of other commands may be read by programs.
  assert.deepEqual(start('keys'), ['the sources', ''])
})

test('an unknown RAPPORT_RUN runs nothing, and the error names the values', (t) => {
  const { status, stdout, stderr } = checkout(t).run('serve', { RAPPORT_RUN: 'sources' })
  assert.deepEqual([status, stdout], [1, ''])
  assert.equal(stderr, 'RAPPORT_RUN must be source or bundle, not "sources".\n')
})
