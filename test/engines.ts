import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readConfig } from '../src/config.ts'
import { databaseFile } from '../src/db/engines/sqlite/open.ts'
import { migrate } from '../src/db/migrate.ts'
import { openDatabase } from '../src/db/open.ts'
import { createDatabase, dropDatabases, startPostgres } from './postgres.ts'

export const engines = ['sqlite', 'postgres'] as const
export type Engine = (typeof engines)[number]

export const root = fileURLToPath(new URL('..', import.meta.url))

export type Env = Record<string, string>

/**
 * Calls with the environment in which tests run on an engine, with a migrated database for them to copy. PostgreSQL is
 * started here with the given settings, unless TEST_DATABASE_URL names a server; its user makes and drops databases.
 */
export const withEngine = <T>(
  engine: Engine,
  work: (env: Env) => Promise<T>,
  settings: Record<string, string> = {},
): Promise<T> => (engine === 'sqlite' ? withSqlite(work) : withPostgres(work, settings))

async function withSqlite<T>(work: (env: Env) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'rapport-template-'))
  try {
    await migrated({ DATA_DIR: folder })
    return await work({ TEST_ENGINE: 'sqlite', TEST_SQLITE_TEMPLATE: databaseFile(folder) })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function withPostgres<T>(work: (env: Env) => Promise<T>, settings: Record<string, string>): Promise<T> {
  const given = process.env.TEST_DATABASE_URL
  const server = given ? null : await startPostgres({ settings })
  const url = given ?? (server?.url as string)
  const template = `rapport_test_${randomBytes(4).toString('hex')}`
  try {
    await migrated({ DATABASE_URL: await createDatabase(url, template) })
    return await work({
      TEST_ENGINE: 'postgres',
      TEST_POSTGRES_URL: url,
      TEST_POSTGRES_TEMPLATE: template,
      ...(server && { TEST_POSTGRES_FOLDER: server.folder }),
    })
  } finally {
    if (server) await server.stop()
    else await dropDatabases(url, template)
  }
}

async function migrated(env: Env): Promise<void> {
  const database = await openDatabase(readConfig(env))
  await migrate(database)
  await database.close()
}

// Each process loads the service: compiling it anew each time is a fifth of what a test file costs.
const compiled = join(root, 'node_modules/.cache/rapport')

/** The environment of a process of tests. */
export function environmentOf(env: Env): Env {
  // Set where tests of the runner itself run: it would send reports elsewhere.
  const { NODE_TEST_CONTEXT, ...own } = process.env as Env
  return { ...own, NODE_COMPILE_CACHE: compiled, ...env }
}

// The end of the command ends the tests. Then the usual clean-up ends their servers.
const signals = ['SIGINT', 'SIGTERM'] as const
const running = new Set<ChildProcess>()
let ended: NodeJS.Signals | undefined

const endAll = (signal: NodeJS.Signals) => {
  ended = signal
  for (const child of running) endGroup(child, signal)
}

/** Ends a process and its process group. Tests start processes, and none of them may outlive the test. */
export function endGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    process.kill(-(child.pid as number), signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** Resolves with the exit code or the signal of a process that leads a group, which ends with this one. */
export async function exitOf(child: ChildProcess): Promise<number | NodeJS.Signals> {
  if (!running.size) for (const signal of signals) process.on(signal, endAll)
  running.add(child)
  const [code, signal] = await once(child, 'exit')
  running.delete(child)
  if (!running.size) for (const signal of signals) process.off(signal, endAll)
  if (ended) throw new Error(`The tests were ended by ${ended}.`)
  return code ?? signal
}

/** Runs Node in a group of its own, whose processes end with this one; returns its exit code or signal. */
export const runNode = (words: string[], env: Env): Promise<number | NodeJS.Signals> =>
  exitOf(
    spawn(process.execPath, words, {
      cwd: root,
      env: environmentOf(env),
      stdio: ['ignore', 'inherit', 'inherit'],
      detached: true,
    }),
  )
