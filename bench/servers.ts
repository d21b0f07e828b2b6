import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { bundleState } from '../release/sources.js'
import type { Engine, Filled } from './databases.ts'

const started = new Set<ChildProcess>()
const root = fileURLToPath(new URL('..', import.meta.url))

/** The program that runs as Rapport: the build if it is up to date, as with `npm start`, otherwise the sources. */
export const runs = bundleState(root) === 'current' ? 'bundle' : 'sources'

export const program = runs === 'bundle' ? 'dist/main.js' : 'src/main.ts'

export type Server = { port: number; pid: number; stop(): Promise<void> }

/** Runs a program until it prints its address. */
export async function start(words: string[], env: Record<string, string>, cwd = root): Promise<Server> {
  // Do not pass on other settings of this process.
  const { PATH = '', HOME = '' } = process.env
  const stdio = ['ignore', 'pipe', 'inherit'] as const
  const child = spawn(process.execPath, words, { cwd, env: { PATH, HOME, ...env }, stdio: [...stdio] })
  started.add(child)
  const ended = once(child, 'exit').then(() => started.delete(child))
  const address = Promise.withResolvers<string>()
  createInterface(child.stdout).on('line', (line) => {
    const port = /(?:serves|started at) http:\/\/127\.0\.0\.1:(\d+)/.exec(line)?.[1]
    if (port) address.resolve(port)
  })
  ended.then(() => address.reject(new Error(`${words[0]} ended.`)))
  return {
    port: Number(await address.promise),
    pid: child.pid as number,
    async stop() {
      child.kill()
      await ended
    },
  }
}

const pool_size = '10'

/** Rapport as `npm start` runs it, without a rate limit. */
export const startRapport = ({ env }: Filled): Promise<Server> =>
  start([program, 'serve'], {
    ...env,
    PORT: '0',
    RATE_LIMIT_PER_SECOND: '0',
    DATABASE_POOL_SIZE: pool_size,
  })

/** The bare server of an engine. */
export const startBare = (engine: Engine, { target }: Filled): Promise<Server> =>
  start([`bench/bare-${engine}.ts`, target, pool_size], {})

export function stopServers(): void {
  for (const child of started) child.kill('SIGKILL')
}
