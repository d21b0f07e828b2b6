import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readConfig } from '../src/config.ts'
import { migrate } from '../src/db/migrate.ts'
import { openDatabase } from '../src/db/open.ts'
import { createDatabase, dropDatabases, startPostgres } from './postgres.ts'

export const engines = ['sqlite', 'postgres'] as const
export type Engine = (typeof engines)[number]

export const root = fileURLToPath(new URL('..', import.meta.url))

type Env = Record<string, string>

/**
 * Calls with the environment in which tests run on an engine. PostgreSQL is started here, unless TEST_DATABASE_URL names
 * a server; its user makes and drops databases.
 */
export async function withEngine<T>(engine: Engine, work: (env: Env) => Promise<T>): Promise<T> {
  if (engine === 'sqlite') return work({ TEST_ENGINE: engine })
  const given = process.env.TEST_DATABASE_URL
  const server = given ? null : await startPostgres()
  const url = given ?? (server?.url as string)
  const template = `rapport_test_${randomBytes(4).toString('hex')}`
  try {
    const database = await openDatabase(readConfig({ DATABASE_URL: await createDatabase(url, template) }))
    await migrate(database)
    await database.close()
    return await work({ TEST_ENGINE: engine, TEST_POSTGRES_URL: url, TEST_POSTGRES_TEMPLATE: template })
  } finally {
    if (server) await server.stop()
    else await dropDatabases(url, template)
  }
}

// Each file is a process that loads the service: compiling it anew each time is a fifth of what they cost.
const compiled = join(root, 'node_modules/.cache/rapport')

// Whoever ends the command ends the tests; what was started for them is then taken away as ever.
const signals = ['SIGINT', 'SIGTERM'] as const

/** Runs Node in a group of its own, whose processes end with this one; returns its exit code. */
export async function runNode(words: string[], env: Env): Promise<number | null> {
  const child = spawn(process.execPath, words, {
    cwd: root,
    env: { ...process.env, NODE_COMPILE_CACHE: compiled, ...env },
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
  return code
}
