import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { settingsOf, small_pool } from './engine.ts'

// test/run.ts says which of the two runs.
const entry = process.env.RAPPORT_RUN === 'bundle' ? '../dist/main.js' : '../src/main.ts'
/** The program that tests start as a process. */
export const main = fileURLToPath(new URL(entry, import.meta.url))

type Env = Record<string, string>

// The settings of the user who runs the tests must not reach the program under test.
const environment = async (env: Env) => ({
  PATH: process.env.PATH,
  HOME: process.env.HOME,
  ...small_pool,
  ...(env.DATA_DIR && (await settingsOf(env.DATA_DIR))),
  ...env,
})

/** A folder that is removed after the test. Its database is removed with those of all tests. */
export function scratchFolder(t: Pick<TestContext, 'after'>): string {
  const folder = mkdtempSync(join(tmpdir(), 'rapport-test-'))
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

/** The API key that the first start on a data folder made. */
export const firstKey = (data_dir: string): string =>
  readFileSync(join(data_dir, 'first-api-key.txt'), 'utf8').trim()

/** Runs one command in a process of its own. `last` is the last line of its standard output. */
export async function runRapport(words: string[], env: Env) {
  const child = spawn(process.execPath, [main, ...words], {
    env: await environment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ])
  return { code, stdout, stderr, last: stdout.trimEnd().split('\n').at(-1) ?? '' }
}

/**
 * Starts `serve` on a free port in another process, and resolves when it has printed its address. The process is killed
 * at the end of the test.
 */
export async function serveProcess(t: TestContext, env: Env) {
  const child = spawn(process.execPath, [main, 'serve'], {
    env: await environment({ PORT: '0', ...env }),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.after(() => child.kill('SIGKILL'))
  let output = ''
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    errors += chunk
  })
  const exited = (once(child, 'close') as Promise<[number | null, string | null]>).then(([code]) => code)
  await new Promise<void>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk
      if (/^Rapport serves \S+$/m.test(output) && output.endsWith('\n')) resolve()
    })
    exited.then((code) => reject(new Error(`serve ended with ${code}: ${errors}`)))
  })
  const [, url = ''] = /Rapport serves (\S+)/.exec(output) ?? []
  return {
    url,
    pid: child.pid as number,
    /** Its standard output so far. */
    output: () => output,
    signal: (name: NodeJS.Signals) => child.kill(name),
    /** The exit code; null after a signal that it could not handle. */
    exited,
    async stop() {
      child.kill('SIGTERM')
      return exited
    },
  }
}
