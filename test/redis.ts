import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { TestContext } from 'node:test'
import { createClient } from '@redis/client'
import { findProgram } from './packages.ts'
import { scratchFolder } from './process.ts'

/** Starts a Redis on a free port. It stores nothing on disk, and ends with the test. */
export async function startRedis(t: TestContext) {
  const program = findProgram('redis-server')
  const folder = scratchFolder(t)
  let server: ChildProcess | undefined

  /** Resolves when it takes connections; null when it could not, as with a port that is taken. */
  async function run(at: number): Promise<ChildProcess | null> {
    const child = spawn(
      program,
      ['--bind', '127.0.0.1', '--port', String(at), '--dir', folder, '--save', '', '--appendonly', 'no'],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    const ready = new Promise<boolean>((resolve) => {
      let output = ''
      child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
        output += chunk
        if (output.includes('Ready to accept connections')) resolve(true)
      })
      child.once('exit', () => resolve(false))
    })
    return (await ready) ? child : null
  }

  // Below the range of ephemeral ports, so that the port is still free when Redis restarts.
  let port = 0
  while (!server) {
    port = 20_000 + Math.floor(Math.random() * 10_000)
    server = (await run(port)) ?? undefined
  }
  t.after(() => server?.kill('SIGKILL'))

  return {
    url: `redis://127.0.0.1:${port}`,
    /** Ends it as a crash does; what it knew is lost. */
    async stop() {
      const exited = once(server!, 'exit')
      server!.kill('SIGKILL')
      await exited
    },
    /** Brings it back, empty, at the same address. */
    async start() {
      const child = await run(port)
      if (!child) throw new Error(`Redis does not start again on port ${port}`)
      server = child
    },
    /** Makes it hang: connections stay open, and get no answer until it continues. */
    hang: () => server!.kill('SIGSTOP'),
    goOn: () => server!.kill('SIGCONT'),
    /** Sends one command. */
    // biome-ignore lint/suspicious/noExplicitAny: a test says itself what it expects in an answer
    async command(...words: string[]): Promise<any> {
      const client = await createClient({ url: `redis://127.0.0.1:${port}`, RESP: 2 }).connect()
      try {
        return await client.sendCommand(words)
      } finally {
        client.destroy()
      }
    },
  }
}
