// runs: once
import assert from 'node:assert/strict'
import { closeSync, globSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { after, test } from 'node:test'
import { engines, root } from '../engines.ts'
import { filesFor, type Mark, type TestFile } from './files.ts'
import { runFiles } from './pool.ts'
import { longestFirst, weightOf } from './weights.ts'

const folder = mkdtempSync(join(tmpdir(), 'rapport-suite-'))
after(() => rmSync(folder, { recursive: true }))

/** Runs files with these texts, in one process after the other; what they are called and how they went. */
async function run(
  texts: Record<string, string>,
  limits: { silence_ms?: number; farewell_ms?: number; repeated_files?: number } = {},
  timed: string[] = [],
) {
  const files = Object.entries(texts).map(([name, text]) => {
    writeFileSync(join(folder, name), `import { after, before, test } from 'node:test'\n${text}`)
    const mark: Mark = timed.includes(name) ? 'timed' : 'apart'
    return { file: relative(root, join(folder, name)), marks: [mark] }
  })
  const lines: string[] = []
  const tell = (line: string) => lines.push(line)
  const written = join(folder, 'errors')
  const errors = openSync(written, 'w')
  const [outcome] = await runFiles([{ files, env: {} }], { tell, errors, ...limits })
  closeSync(errors)
  assert.ok(outcome)
  const named = outcome.failures.map(({ name }) => name.replace(`${relative(root, folder)}/`, ''))
  return {
    passed: outcome.passed,
    unsteady: outcome.unsteady.map(({ name }) => name.replace(`${relative(root, folder)}/`, '')),
    failures: named.sort(),
    repeated: outcome.failures.map(({ text }) => text).join('\n'),
    said: lines.join('\n'),
    wrote: readFileSync(written, 'utf8'),
  }
}

test('a file that hangs is ended and fails with its name, and the others run', async () => {
  const files = {
    'waits.test.mjs': "test('waits', () => new Promise((resolve) => setTimeout(resolve, 60_000)))",
    'blocks.test.mjs':
      "test('blocks', () => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0))",
    'good.test.mjs': "test('passes', () => {})",
  }
  // Longer than a process takes to start on a busy machine.
  const { passed, failures, said } = await run(files, { silence_ms: 30_000 })
  assert.deepEqual(failures, ['blocks.test.mjs', 'waits.test.mjs: waits'])
  assert.equal(passed, 1)
  assert.match(said, /told nothing for 30 s/)
})

test('a file that ends its process, cannot be loaded, or fails before or after its tests, fails with its name', async () => {
  const { passed, failures, said, repeated } = await run({
    'ends.test.mjs': "test('ends', () => process.exit(0))",
    'loads.test.mjs': "import './nothing.mjs'",
    'before.test.mjs': "before(() => { throw new Error('no') }); test('one', () => {})",
    'after.test.mjs': "after(() => { throw new Error('no') }); test('two', () => {})",
    'later.test.mjs':
      "test('three', () => void setTimeout(() => { throw new Error('late') }, 10)); test('four', (t, done) => setTimeout(done, 100))",
    'fails.test.mjs': "test('five', () => { throw new Error('said') })",
    'waits.test.mjs':
      "test('six', (t, done) => { setTimeout(() => Promise.reject(new Error('lost'))); setTimeout(done, 100) })",
  })
  const files = new Set(failures.map((text) => /\w+\.test\.mjs/.exec(text)?.[0]))
  assert.deepEqual(
    [...files].sort(),
    [
      'after.test.mjs',
      'before.test.mjs',
      'ends.test.mjs',
      'fails.test.mjs',
      'later.test.mjs',
      'loads.test.mjs',
      'waits.test.mjs',
    ],
    failures.join('\n'),
  )
  assert.equal(passed, 4)
  assert.match(said, /Error: late/)
  assert.match(said, /Error: lost/)
  // Beside the names at the end of all, where the files are far above.
  for (const told of ['Error: said\n', 'Error: late\n', 'Its process ended with 0.', 'Cannot find module'])
    assert.ok(repeated.includes(told), repeated)
})

test('the end of a run repeats the first lines of a failure', async () => {
  const files = {
    'long.test.mjs':
      "test('long', () => { throw new Error([...Array(100).keys()].map((n) => 'line ' + n).join('\\n')) })",
  }
  const { repeated, said } = await run(files)
  assert.match(repeated, /^ {2}\S.*long\.test\.mjs:\d+\n {2}Error: line 0\n {2}line 1\n/)
  assert.equal(repeated.split('\n').length, 15)
  assert.match(said, /line 99/)
})

test('one or two failed files run again alone, and are named as unsteady if they pass then', async () => {
  const once = (name: string) => `
    import { existsSync, writeFileSync } from 'node:fs'
    const mark = ${JSON.stringify(join(folder, `${name}.mark`))}
    test('passes later', () => {
      if (existsSync(mark)) return
      writeFileSync(mark, '')
      throw new Error('a stall')
    })`
  // A failed test leaves a promise behind, as one does that began some work.
  const leaves = once('left').replace(
    'throw new',
    "setTimeout(() => Promise.reject(new Error('left')), 10); throw new",
  )
  const waits = `${leaves}\ntest('waits', (t, done) => setTimeout(done, 100))`
  const after = await run({ 'leaves.test.mjs': waits }, { repeated_files: 2 })
  assert.deepEqual([after.failures, after.unsteady.length], [[], 2])
  const always = "test('fails', () => { throw new Error('wrong') })"
  const good = "test('passes', () => {})"
  const one = { 'stalls.test.mjs': once('one'), 'fails.test.mjs': always, 'good.test.mjs': good }
  const some = await run(one, { repeated_files: 2 })
  assert.deepEqual(some.failures, ['fails.test.mjs: fails'])
  assert.deepEqual(some.unsteady, ['stalls.test.mjs: passes later'])
  assert.equal(some.passed, 1)
  // Three are too many.
  const three = { 'a.test.mjs': once('a'), 'b.test.mjs': once('b'), 'fails.test.mjs': always }
  const many = await run(three, { repeated_files: 2 })
  assert.deepEqual(many.unsteady, [])
  assert.equal(many.failures.length, 3)
})

test('a counterexample of a property and an error outside of tests are not tried again', async () => {
  for (const text of [
    "test('property', () => { throw new Error('Property failed after 3 tests') })",
    "test('late', (t, done) => { setTimeout(() => { throw new Error('late') }, 10); setTimeout(done, 100) })",
  ]) {
    const { failures, unsteady, said } = await run({ 'fails.test.mjs': text }, { repeated_files: 2 })
    assert.equal(failures.length, 1)
    assert.deepEqual(unsteady, [])
    assert.ok(!said.includes('runs again'), said)
  }
})

test('what tests leave running is told, and fails', async () => {
  const files = { 'leaves.test.mjs': "test('leaves', () => void setInterval(() => {}, 1000))" }
  const { failures, wrote } = await run(files, { farewell_ms: 500 })
  assert.equal(failures.length, 1)
  assert.match(wrote, /these still run: .*Timeout/)
})

test('a file with an environment of its own has a process of its own with it, and no other file has it', async () => {
  const asks = (wanted: string) => `
    import { test } from 'node:test'
    import assert from 'node:assert/strict'
    test('asks', () => assert.equal(process.env.RAPPORT_RUN, ${JSON.stringify(wanted)}))`
  const place = (name: string, wanted: string) => {
    writeFileSync(join(folder, name), asks(wanted))
    return relative(root, join(folder, name))
  }
  const files: TestFile[] = [
    { file: place('first.test.mjs', 'bundle'), marks: [] },
    { file: place('own.test.mjs', 'source'), marks: ['source'], env: { RAPPORT_RUN: 'source' } },
    { file: place('other.test.mjs', 'bundle'), marks: ['apart'] },
  ]
  const [outcome] = await runFiles([{ files, env: { RAPPORT_RUN: 'bundle' } }], { tell: () => {} })
  assert.deepEqual(outcome, { passed: 3, failures: [], unsteady: [] })
})

test('a file that compares times runs in a run of everything only, when all others are done', async () => {
  const slow = "test('slow', () => new Promise((resolve) => setTimeout(resolve, 300)))"
  const files = { 'timed.test.mjs': "test('timed', () => {})", 'one.test.mjs': slow, 'other.test.mjs': slow }
  const { passed, said } = await run(files, {}, ['timed.test.mjs'])
  assert.equal(passed, 3)
  assert.match(said, /timed\.test\.mjs \(\d+\.\d s\)$/)
  const compares = ({ marks }: TestFile) => marks.includes('timed')
  for (const engine of engines) {
    assert.equal(filesFor(engine, [], false).some(compares), false)
    assert.ok(filesFor(engine, [], true).some(compares))
  }
})

test('the longest files come first, and one that nobody has weighed counts as the median', () => {
  const names = ['test/unknown.test.ts', ...globSync('src/**/*.test.ts', { cwd: root })]
  const files = names.map((file): TestFile => ({ file, marks: [] }))
  longestFirst(files, 'sqlite')
  const weights = files.map((file) => weightOf(file, 'sqlite'))
  assert.deepEqual(
    weights,
    weights.toSorted((a, b) => b - a),
  )
  const place = files.findIndex(({ file }) => file === 'test/unknown.test.ts')
  assert.ok(place > 0 && place < files.length - 1, `it is at ${place} of ${files.length}`)
})
