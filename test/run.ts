import { existsSync, statfsSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { build } from '../release/build.ts'
import { bundleState } from '../release/sources.js'
import { buildWebApp } from '../src/web/build.ts'
import { type Engine, engines, root, withEngine } from './engines.ts'
import { linesOfUse, startCounting } from './suite/cpu.ts'
import { filesFor, needWeb, startsProcess, type TestFile } from './suite/files.ts'
import { at_once, type Batch, type Outcome, runFiles } from './suite/pool.ts'
import { planOf, writeWeights } from './suite/weights.ts'

// All test files on SQLite, and those with the mark `both` on PostgreSQL, too: node test/run.ts
// Everything: node test/run.ts --all
// Some of it: node test/run.ts [--engine sqlite|postgres] [FILE, FOLDER or PATTERN ...]
// Some files that start the service as a process, against the bundle: node test/run.ts --bundle
// A run of all tests starts the bundle, which takes a third of the time; on SQLite, files with the mark `source` start the
// sources, so both are tested.
// How long they are expected to take, without running them: node test/run.ts --plan
// The CPU seconds that they use, by engine and folder, at the end: node test/run.ts --cpu
// TEST_PROCESSES says how many processes run test files at once, instead of two more than there are cores.
// TEST_DATABASE_URL names a PostgreSQL to use instead of one that is started here; its user makes and drops databases.

const { values, positionals } = parseArgs({
  options: {
    all: { type: 'boolean' },
    engine: { type: 'string' },
    bundle: { type: 'boolean' },
    plan: { type: 'boolean' },
    weigh: { type: 'boolean' },
    cpu: { type: 'boolean' },
  },
  allowPositionals: true,
})
const chosen = (engine: Engine) => values.engine === undefined || values.engine === engine
if (!chosen('sqlite') && !chosen('postgres')) throw new Error('--engine is sqlite or postgres.')

// The databases of tests are in memory if there is room. Tests that end a process need no disk to lose nothing.
const memory = '/dev/shm'
const needed_bytes = 4 * 1024 ** 3
if (!process.env.TMPDIR && existsSync(memory)) {
  const { bavail, bsize } = statfsSync(memory)
  if (bavail * bsize >= needed_bytes) process.env.TMPDIR = memory
}

const started = performance.now()
const runsBundle = values.bundle || !positionals.length
// A run of named files is a part of the run of everything.
const everything = values.all || positionals.length > 0
const wanted = (engine: Engine) =>
  filesFor(engine, positionals, everything)
    .filter((file) => !values.bundle || startsProcess(file))
    .map((file) => (startsSources(engine, file) ? { ...file, env: { RAPPORT_RUN: 'source' } } : file))
const startsSources = (engine: Engine, { marks }: TestFile) =>
  !values.bundle && engine === 'sqlite' && marks.includes('source')
const files = engines.map((engine): [Engine, TestFile[]] => [engine, chosen(engine) ? wanted(engine) : []])
if (values.plan) {
  for (const line of planOf(files, at_once)) console.log(line)
  process.exit()
}
if (values.cpu) startCounting()
if (runsBundle && bundleState(root) !== 'current') await build()
// Once, before the tests that open it side by side.
if (files.some(([, some]) => needWeb(some))) await buildWebApp(console.log)

/** Runs the files of all engines beside each other. */
async function runAll(batches: Batch[], [next, ...more]: [Engine, TestFile[]][]): Promise<Outcome[]> {
  if (!next) return runFiles(batches, { repeated_files: positionals.length ? 0 : 2 })
  const [name, files] = next
  return withEngine(name, (env) => {
    const RAPPORT_RUN = runsBundle ? 'bundle' : 'source'
    const TEST_QUICK = everything ? '0' : '1'
    return runAll([...batches, { name, files, env: { ...env, RAPPORT_RUN, TEST_QUICK } }], more)
  })
}

const some = files.filter(([, { length }]) => length)
for (const [engine, { length }] of some) console.log(`${engine}: ${length} files`)
const outcomes = some.length ? await runAll([], some) : []
if (values.weigh) writeWeights()
if (values.cpu) for (const line of linesOfUse()) console.log(line)
for (const [index, { passed, failures, unsteady }] of outcomes.entries()) {
  const [engine] = some[index] as (typeof some)[number]
  console.log(`\n${engine}: ${passed} tests passed`)
  // Printed again: the end of the output is all that some machines keep.
  for (const { name, text } of failures) console.log(`\n✖ ${name}\n${text}`)
  for (const { name, text } of unsteady) console.log(`\n- Unsteady, passed alone: ${name}\n${text}`)
}
const passed = outcomes.length > 0 && outcomes.every(({ failures }) => !failures.length)
const alone = outcomes.some(({ unsteady }) => unsteady.length) ? ', some of them only alone' : ''
const outcome = passed ? `All passed${alone}` : outcomes.length ? 'Some failed' : 'Nothing ran'
console.log(`\n${outcome}, in ${Math.round((performance.now() - started) / 1000)} s.`)
process.exitCode = passed ? 0 : 1
