// runs: once
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { bundle } from './bundle.ts'
import { root } from './root.ts'

test('a stack trace of the bundle names the lines of the sources, also for an error in a part', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'rapport-test-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(
    join(folder, 'part.ts'),
    `type Text = string\n\nexport const fail = (text: Text) => {\n  throw new TypeError(text)\n}\n`,
  )
  writeFileSync(
    join(folder, 'program.ts'),
    `import { mapStackTraces } from ${JSON.stringify(join(root, 'release/program/stack-traces.ts'))}
mapStackTraces()
try {
  ;(await import('./part.ts')).fail('“No.”')
} catch (error) {
  console.log((error as Error).stack)
}
`,
  )
  await bundle(
    { main: join(folder, 'program.ts') },
    { dir: join(folder, 'dist'), format: 'esm', sourcemap: true },
  )
  const stack = execFileSync(process.execPath, [join(folder, 'dist/main.js')], { encoding: 'utf8' })
  const [head, first = '', second = ''] = stack.split('\n')
  assert.equal(head, 'TypeError: “No.”')
  assert.match(first, /^ {4}at Module\.fail \(file:.*\/part\.ts:4:\d+\)$/)
  assert.match(second, /^ {4}at .*\/program\.ts:4:\d+\)?$/)
})
