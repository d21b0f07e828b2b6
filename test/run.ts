import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, matchesGlob, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { readConfig } from '../src/config.ts'
import { migrate } from '../src/db/migrate.ts'
import { openDatabase } from '../src/db/open.ts'
import { buildWebApp } from '../src/web/build.ts'
import { createDatabase, dropDatabases, startPostgres } from './postgres.ts'

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
  'src/booking/{availability,clock-changes}.test.ts',
  'src/config.test.ts',
  'src/db/key-file.test.ts',
  'src/deals/stages.test.ts',
  'src/deals/value.test.ts',
  'src/http/{patch,rate-limit,server,texts}.test.ts',
  'src/webhooks/{capacity,connector,schedule,signature,target}.test.ts',
  'src/web/{build,routes}.test.ts',
  'test/architecture.test.ts',
  'test/container.test.ts',
  'test/web-formats.test.ts',
  // What is drawn, and how it is used, does not depend on the engine; the ways through the app run on both.
  'test/e2e/{activities,calendar,contacts,deals,delivery-log,fields,german,home,mended,opened}.test.ts',
  'test/e2e/{palette,people,screens,scripts,settings,tabs,trash}.test.ts',
]

// These measure how long something takes, so nothing runs beside them.
const alone = [
  'src/cli/serve.test.ts',
  'src/webhooks/dispatcher.test.ts',
  'test/postgres/backlog.test.ts',
  'test/webhooks-isolation.test.ts',
]

type Engine = 'sqlite' | 'postgres'

// Whoever ends this command ends the tests; what was started for them is then taken away as ever.
const signals = ['SIGINT', 'SIGTERM'] as const

const root = fileURLToPath(new URL('..', import.meta.url))

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

// Each file is a process that loads the service: compiling it anew each time is a fifth of what they cost.
const compiled = join(root, 'node_modules/.cache/rapport')

// Two at a time also on two cores: many tests wait for something.
const at_once = Math.max(2, availableParallelism() - 1)

/** Runs the files, each in a process of its own; true when all passed. */
async function runTests(engine: Engine, files: string[], env: Record<string, string> = {}) {
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
  const child = spawn(process.execPath, [...words, ...files], {
    cwd: root,
    env: { ...process.env, NODE_COMPILE_CACHE: compiled, TEST_ENGINE: engine, ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
    // A group of its own, to be ended as a whole: tests start processes, which must not be left behind.
    detached: true,
  })
  let ended: NodeJS.Signals | undefined
  const end = (signal: NodeJS.Signals) => {
    ended = signal
    process.kill(-(child.pid as number), signal)
  }
  for (const signal of signals) process.on(signal, end)
  const [code] = await once(child, 'exit')
  for (const signal of signals) process.off(signal, end)
  if (ended) throw new Error(`The tests were ended by ${ended}.`)
  return code === 0
}

async function runOnPostgres(files: string[]) {
  const given = process.env.TEST_DATABASE_URL
  const server = given ? null : await startPostgres()
  const url = given ?? (server?.url as string)
  const template = `rapport_test_${randomBytes(4).toString('hex')}`
  try {
    const database = await openDatabase(readConfig({ DATABASE_URL: await createDatabase(url, template) }))
    await migrate(database)
    await database.close()
    return await runTests('postgres', files, { TEST_POSTGRES_URL: url, TEST_POSTGRES_TEMPLATE: template })
  } finally {
    if (server) await server.stop()
    else await dropDatabases(url, template)
  }
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
for (const engine of ['sqlite', 'postgres'] as const) {
  const files = chosen(engine) ? filesFor(engine, positionals) : []
  if (files.length)
    results.push(engine === 'sqlite' ? await runTests(engine, files) : await runOnPostgres(files))
}
const passed = results.length > 0 && results.every(Boolean)
const outcome = passed ? 'All passed' : results.length ? 'Some failed' : 'Nothing ran'
console.log(`\n${outcome}, in ${Math.round((performance.now() - started) / 1000)} s.`)
process.exitCode = passed ? 0 : 1
