import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { settingsOf } from '../engine.ts'
import { client } from '../harness.ts'
import { main } from '../process.ts'

/** The service in a process of its own, started as `npm start` does; `key` is of the folder's first start. */
export type Service = Awaited<ReturnType<typeof startService>>

type Wishes = {
  env?: { DATABASE_URL?: string; [name: string]: string | undefined }
  key?: string
  words?: string[]
  /** A command that runs the service, such as one that limits its memory; the service is its last words. */
  within?: string[]
}

/**
 * Starts the service on a data folder and a free port; without a rate limit. Give the key when it was shown before.
 * `words` are options of `serve`.
 */
export async function startService(
  data_dir: string,
  { env = {}, key = '', words = [], within = [] }: Wishes = {},
) {
  const found = env.DATABASE_URL ? { DATA_DIR: data_dir } : await settingsOf(data_dir)
  const settings = { PORT: '0', ...found, RATE_LIMIT_PER_SECOND: '0', LOG_LEVEL: 'error' }
  const [command = '', ...rest] = [...within, process.execPath, main, 'serve', ...words]
  const child = spawn(command, rest, {
    env: { PATH: process.env.PATH, ...settings, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = once(child, 'exit') as Promise<[code: number | null, signal: string | null]>
  const errors: string[] = []
  child.stderr.on('data', (text) => errors.push(String(text)))
  const shown = await greeting(child, () => errors.join(''), key === '')
  const token = key || shown.key
  const log = () => [...errors, ...shown.log]
  return {
    url: shown.url,
    key: token,
    data_dir,
    pid: child.pid as number,
    call: client(shown.url, token),
    /** The standard error of the process, and its log on standard output. */
    log,
    /** The log without the warnings about the PostgreSQL of the tests. */
    complaints: () =>
      log()
        .filter((line) => !isOfTestServer(line))
        .join('\n'),
    /** Sends a signal; resolves with the exit code (null after SIGKILL) once the process is gone. */
    async end(signal: 'SIGKILL' | 'SIGTERM' | 'SIGINT'): Promise<number | null> {
      child.kill(signal)
      const [code] = await exited
      return code
    },
    exited,
  }
}

// The PostgreSQL of the tests writes nothing through to the disk, and the service warns of that.
const isOfTestServer = (line: string) => /PostgreSQL runs with (fsync|full_page_writes) = off/.test(line)

// The lines after the first start name the file of the key.
function keyIn(line: string): string {
  const [, file] = /^Your first API key is in (.*)\. To read it:$/.exec(line) ?? []
  return file ? readFileSync(file, 'utf8').trim() : ''
}

// The address and, at the first start, the file of the key stand in the first lines of standard output.
async function greeting(child: ChildProcess, errors: () => string, first: boolean) {
  const shown = { url: '', key: '', log: [] as string[] }
  await new Promise<void>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the service ended with ${code}: ${errors()}`)))
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      shown.url ||= /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0] ?? ''
      shown.key ||= keyIn(line)
      if (line.startsWith('{')) shown.log.push(line)
      if (shown.url && (shown.key || !first)) resolve()
    })
  })
  return shown
}
