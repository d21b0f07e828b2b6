import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'

const work_ms = 20

// Prints its port, and answers each request after a fixed CPU time of work.
const script = `
  const server = require('node:http').createServer((request, response) => {
    const from = process.cpuUsage()
    for (let used = 0; used < ${work_ms * 1000}; ) {
      const { user, system } = process.cpuUsage(from)
      used = user + system
    }
    response.end()
  })
  server.listen(0, '127.0.0.1', () => console.log(server.address().port))
`

/**
 * Starts a process beside the service that answers each request after 20 ms of work, and returns its URL. The promises
 * in milliseconds hold on an idle machine. The additional time of this process is the delay by the machine and the
 * test.
 */
export async function startIdle(t: TestContext): Promise<string> {
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => child.kill('SIGKILL'))
  const [port] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  return `http://127.0.0.1:${port}/`
}

/** The median and the longest of some waits. */
export type Waits = { middle_ms: number; most_ms: number }

/** The delay that the machine adds to single answers, and how many times as long any work takes. */
export type Noise = Waits & { stretch: number }

/**
 * Measures the response times of the service and of the idle process during some work, with requests at the same
 * moments.
 */
export async function waitsDuring(
  service: string,
  idle: string,
  work: () => Promise<unknown>,
): Promise<{ service: Waits; noise: Noise }> {
  let working = true
  const worked = work().finally(() => {
    working = false
  })
  worked.catch(() => {})
  const times: number[] = []
  const added: number[] = []
  while (working || times.length < 20) {
    const [taken_ms, idle_ms] = await Promise.all([ask(`${service}/healthz`), ask(idle)])
    times.push(taken_ms)
    added.push(Math.max(0, idle_ms - work_ms))
    await pause(30)
  }
  await worked
  const average_ms = added.reduce((sum, one) => sum + one, 0) / added.length
  return { service: waitsOf(times), noise: { ...waitsOf(added), stretch: 1 + average_ms / work_ms } }
}

async function ask(url: string): Promise<number> {
  const began = performance.now()
  const { ok } = await fetch(url)
  if (!ok) throw new Error(`${url} is not well.`)
  return performance.now() - began
}

function waitsOf(times: number[]): Waits {
  const sorted = times.toSorted((a, b) => a - b)
  return { middle_ms: sorted[sorted.length >> 1] ?? 0, most_ms: sorted.at(-1) ?? 0 }
}

/** The limit of an idle machine, scaled for the longest wait on this machine, as busy as it was. */
export const limitBeside = (limit_ms: number, { stretch, most_ms }: Noise): number =>
  limit_ms * stretch + most_ms

/** Says in a result how busy the machine was. */
export const tellNoise = ({ stretch, middle_ms, most_ms }: Noise): string =>
  `the machine: work × ${stretch.toFixed(1)}, answers +${middle_ms.toFixed()} ms, at most +${most_ms.toFixed()} ms`
