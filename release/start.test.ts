// runs: once
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from './root.ts'
import { sourcesDigest } from './sources.js'

test('npm start says whether it runs the sources or the build, and runs the build only if it is of these sources', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'rapport-start-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const write = (name: string, text: string) => {
    mkdirSync(join(folder, name, '..'), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  // A checkout whose programs say which of them runs.
  for (const name of ['start.js', 'sources.js'])
    cpSync(join(root, 'release', name), join(folder, 'release', name))
  write('package.json', '{"type":"module"}')
  write('src/main.ts', "console.log('the sources')")
  const start = (...words: string[]) => {
    const env = { PATH: process.env.PATH }
    const child = spawnSync(process.execPath, [join(folder, 'release/start.js'), ...words], {
      encoding: 'utf8',
      env,
    })
    return [child.stdout.trim(), child.stderr.split(/[.:]/)[0]]
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
