// runs: once
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const folder = mkdtempSync(join(tmpdir(), 'rapport-prose-'))
after(() => rmSync(folder, { recursive: true }))

/** The lines and problems that the check finds in a file. */
function problemsOf(name: string, text: string): string[] {
  const file = join(folder, name)
  writeFileSync(file, text)
  const script = fileURLToPath(new URL('../scripts/prose.ts', import.meta.url))
  const { stderr, status } = spawnSync(process.execPath, [script, file], { encoding: 'utf8' })
  const found = [...stderr.matchAll(/^\S+?:(\d+) ([^:]+):/gm)].map(
    ([, line, problem]) => `${line} ${problem}`,
  )
  assert.equal(status, found.length ? 1 : 0, stderr)
  return found
}
const long = `The row ${'and the row '.repeat(10)}is long.`

test('a comment that begins with What, says any more, or is too long is found with its line', () => {
  const source = [
    '/** What a row has. */',
    'const row = 1',
    '',
    '// Nobody reads it',
    '// any more.',
    '/*',
    ` * ${long}`,
    ' */',
    '  // It is no row.',
  ]
  const found = ['1 "What"', '4 "any more"', '7 34 words', '9 "is no"']
  assert.deepEqual(problemsOf('source.ts', source.join('\n')), found)
  assert.deepEqual(problemsOf('style.css', '/* Those of a row. */\n.row { color: red }\n'), ['1 "Those"'])
})

test('code, texts, marks for programs and plain comments are not found', () => {
  const source = [
    "const text = 'What it is'",
    '// biome-ignore lint/style: What it is',
    '// runs: once',
    '// What is it?',
    '// The name `is no` keyword.',
  ]
  assert.deepEqual(problemsOf('source.ts', source.join('\n')), [])
})
