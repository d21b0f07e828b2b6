import { execFileSync } from 'node:child_process'
import type { TestContext } from 'node:test'
import { type Service, startService } from './faults/service.ts'
import { scratchFolder } from './process.ts'
import { until } from './webhooks.ts'

/** The processes that a process has started. */
export function childrenOf(pid: number): number[] {
  const all = execFileSync('ps', ['-A', '-o', 'ppid=,pid='], { encoding: 'utf8' }).trim().split('\n')
  const pairs = all.map((line) => line.trim().split(/\s+/).map(Number))
  return pairs.filter(([parent]) => parent === pid).map(([, child = 0]) => child)
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** The metrics, when all processes are in them: one that is too busy to answer in time is left out. */
export const metricsOf = ({ call }: Pick<Service, 'call'>, processes: number): Promise<string> =>
  until(
    async () => (await call('GET', '/metrics')).text,
    (text) => new RegExp(`^rapport_build_info\\{.*\\} ${processes}$`, 'm').test(text),
  )

/** Starts several processes that serve one port. They end with the test. */
export async function startWorkers(t: Pick<TestContext, 'after'>, env: Record<string, string>) {
  const data_dir = scratchFolder(t)
  const service = await startService(data_dir, { env })
  t.after(async () => {
    const workers = childrenOf(service.pid)
    await service.end('SIGKILL')
    await until(
      async () => workers.filter(isAlive),
      (left) => left.length === 0,
    )
  })
  return { ...service, workers: () => childrenOf(service.pid) }
}
