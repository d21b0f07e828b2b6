import { parseArgs } from 'node:util'
import { build } from '../release/build.ts'
import { buildWebApp } from '../src/web/build.ts'
import { type Engine, engines, withEngine } from './engines.ts'
import { filesFor, needWeb, startsProcess } from './suite/files.ts'
import { type Outcome, runFiles } from './suite/pool.ts'

// All tests: node test/run.ts
// Some of them: node test/run.ts [--engine sqlite|postgres] [FILE, FOLDER or PATTERN ...]
// Those that start the service as a process, against the bundle: node test/run.ts --bundle
// A run of all tests starts the sources on SQLite and the bundle on PostgreSQL, so both are tested.
// TEST_DATABASE_URL names a PostgreSQL to use instead of one that is started here; its user makes and drops databases.

const { values, positionals } = parseArgs({
  options: { engine: { type: 'string' }, bundle: { type: 'boolean' } },
  allowPositionals: true,
})
const chosen = (engine: Engine) => values.engine === undefined || values.engine === engine
if (!chosen('sqlite') && !chosen('postgres')) throw new Error('--engine is sqlite or postgres.')

const started = performance.now()
const secondsSince = (ms: number) => `${Math.round((performance.now() - ms) / 1000)} s`
const wanted = (engine: Engine) =>
  filesFor(engine, positionals).filter((file) => !values.bundle || startsProcess(file))
const files = engines.map((engine) => [engine, chosen(engine) ? wanted(engine) : []] as const)
const runsBundle = (engine: Engine) => values.bundle || (!positionals.length && engine === 'postgres')
if (engines.some((engine) => chosen(engine) && runsBundle(engine))) await build()
// Once, before the tests that open it side by side.
if (files.some(([, some]) => needWeb(some))) await buildWebApp(console.log)
const outcomes: Outcome[] = []
for (const [engine, some] of files) {
  if (!some.length) continue
  const begun = performance.now()
  console.log(`\n${engine}: ${some.length} files\n`)
  const outcome = await withEngine(engine, (env) =>
    runFiles(some, { ...env, RAPPORT_RUN: runsBundle(engine) ? 'bundle' : 'source' }),
  )
  console.log(`\n${engine}: ${outcome.passed} tests passed, in ${secondsSince(begun)}`)
  for (const failure of outcome.failures) console.log(`✖ ${failure}`)
  outcomes.push(outcome)
}
const passed = outcomes.length > 0 && outcomes.every(({ failures }) => !failures.length)
const outcome = passed ? 'All passed' : outcomes.length ? 'Some failed' : 'Nothing ran'
console.log(`\n${outcome}, in ${secondsSince(started)}.`)
process.exitCode = passed ? 0 : 1
