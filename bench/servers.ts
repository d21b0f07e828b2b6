import { type ChildProcess, fork } from 'node:child_process'
import type { Engine, Filled } from './databases.ts'

const started: ChildProcess[] = []

/** Runs a file of this folder as a child process, and returns the port that it sends. */
function start(file: string, args: string[], env: Record<string, string>): Promise<number> {
  // Do not pass on other settings of this process.
  const { PATH = '', HOME = '' } = process.env
  const child = fork(new URL(file, import.meta.url), args, { env: { PATH, HOME, ...env }, stdio: 'inherit' })
  started.push(child)
  return new Promise((resolve, reject) => {
    child.once('message', (message) => resolve((message as { port: number }).port))
    child.once('exit', (code) => reject(new Error(`${file} ended with ${code}`)))
  })
}

const pool_size = '10'

/** Rapport as `npm start` runs it, without a rate limit. */
export const startRapport = ({ env }: Filled): Promise<number> =>
  start('./rapport.ts', [], {
    ...env,
    PORT: '0',
    RATE_LIMIT_PER_SECOND: '0',
    DATABASE_POOL_SIZE: pool_size,
  })

/** The bare server of an engine. */
export const startBare = (engine: Engine, { target }: Filled): Promise<number> =>
  start(`./bare-${engine}.ts`, [target, pool_size], {})

export function stopServers(): void {
  for (const child of started.splice(0)) {
    child.removeAllListeners('exit')
    child.kill('SIGKILL')
  }
}
