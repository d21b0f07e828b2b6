import { globSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { matchesGlob, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { buildWebApp } from '../src/web/build.ts'
import { type Engine, engines, root, runNode, withEngine } from './engines.ts'

// All tests: node test/run.ts
// Some of them: node test/run.ts [--engine sqlite|postgres] [FILE, FOLDER or PATTERN ...]
// TEST_DATABASE_URL names a PostgreSQL to use instead of one that is started here; its user makes and drops databases.

const all = ['src/**/*.test.ts', 'test/**/*.test.ts', 'demo/**/*.test.ts', 'docs/**/*.test.ts']

// A folder says what is about one engine alone.
const other = { sqlite: ['**/postgres/**'], postgres: ['**/sqlite/**'] }

// These open no database, or one that they choose themselves: to run them twice would tell nothing new. Everything else
// runs on both engines.
const once_is_enough = [
  'demo/data.test.ts',
  'docs/**/*.test.ts',
  'src/app.test.ts',
  'src/resources/booking-pages/{availability,clock-changes}.test.ts',
  'src/config.test.ts',
  'src/db/{clock-sign,key-file}.test.ts',
  'src/resources/deals/stages.test.ts',
  'src/resources/deals/value.test.ts',
  'src/http/{patch,rate-limit,server,texts}.test.ts',
  'src/webhooks/delivery/{capacity,connector,resolve,schedule,signature,slow-start}.test.ts',
  'src/webhooks/registration/target.test.ts',
  'src/web/{build,routes}.test.ts',
  'test/architecture.test.ts',
  'test/container.test.ts',
  'test/faults/table.test.ts',
  'test/web-formats.test.ts',
  // What is drawn, and how it is used, does not depend on the engine; the ways through the app run on both.
  'test/e2e/{activities,calendar,contacts,deals,delivery-log,fields,german,home,mended,opened}.test.ts',
  'test/e2e/{palette,people,screens,scripts,settings,tabs,trash}.test.ts',
]

// These measure how long something takes, so nothing runs beside them.
const alone = [
  'src/cli/serve.test.ts',
  'src/webhooks/delivery/dispatcher.test.ts',
  'test/postgres/backlog.test.ts',
  'test/webhooks-isolation.test.ts',
]

const everything = globSync(all, { cwd: root }).sort()
const gone = [...once_is_enough, ...alone].filter(
  (pattern) => !everything.some((file) => matchesGlob(file, pattern)),
)
if (gone.length) throw new Error(`No test is called ${gone.join(', ')} any more.`)

/** The tests of an engine; only those of the files, folders and patterns, when there are any. */
function filesFor(engine: Engine, words: string[]): string[] {
  const asked = (word: string) => {
    const path = relative(root, resolve(word))
    return everything.filter((file) => file.startsWith(`${path}/`) || matchesGlob(file, path))
  }
  const unknown = words.filter((word) => !asked(word).length)
  if (unknown.length) throw new Error(`There is no test ${unknown.join(', ')}.`)
  const left_out = [...other[engine], ...(engine === 'postgres' ? once_is_enough : [])]
  const files = words.length ? [...new Set(words.flatMap(asked))] : everything
  return files.filter((file) => !left_out.some((pattern) => matchesGlob(file, pattern)))
}

// Two at a time also on two cores: many tests wait for something.
const at_once = Math.max(2, availableParallelism() - 1)

/** Runs the files, each in a process of its own; true when all passed. */
async function runTests(engine: Engine, files: string[], env: Record<string, string>) {
  const quiet = files.filter((file) => alone.includes(file))
  const others = files.filter((file) => !alone.includes(file))
  const first = others.length === 0 || (await runFiles(engine, others, at_once, env))
  return (quiet.length === 0 || (await runFiles(engine, quiet, 1, env))) && first
}

async function runFiles(engine: Engine, files: string[], concurrency: number, env: Record<string, string>) {
  console.log(`\n${engine}: ${files.length} files, ${concurrency} at a time\n`)
  const words = [
    '--test',
    '--test-timeout=180000',
    '--test-reporter=spec',
    `--test-concurrency=${concurrency}`,
  ]
  return (await runNode([...words, ...files], env)) === 0
}

const { values, positionals } = parseArgs({
  options: { engine: { type: 'string' } },
  allowPositionals: true,
})
const chosen = (engine: Engine) => values.engine === undefined || values.engine === engine
if (!chosen('sqlite') && !chosen('postgres')) throw new Error('--engine is sqlite or postgres.')
const started = performance.now()
// Once, before the tests that open it side by side.
await buildWebApp(console.log)
const results: boolean[] = []
for (const engine of engines) {
  const files = chosen(engine) ? filesFor(engine, positionals) : []
  if (files.length) results.push(await withEngine(engine, (env) => runTests(engine, files, env)))
}
const passed = results.length > 0 && results.every(Boolean)
const outcome = passed ? 'All passed' : results.length ? 'Some failed' : 'Nothing ran'
console.log(`\n${outcome}, in ${Math.round((performance.now() - started) / 1000)} s.`)
process.exitCode = passed ? 0 : 1
