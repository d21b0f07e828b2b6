import { subscribe, unsubscribe } from 'node:diagnostics_channel'

const begun = 'rapport:sqlite:statement:begun'
const ended = 'rapport:sqlite:statement:ended'

export type Measured = {
  /** How many statements ran in this process. */
  count: number
  /** The one that took most processor time, and how many milliseconds: what other processes do is not in it. */
  slowest: { sql: string; cpu_ms: number }
}

/** Measures the statements on SQLite that run in this process while work is done. */
export async function measureStatements(work: () => Promise<unknown>): Promise<Measured> {
  const measured: Measured = { count: 0, slowest: { sql: '', cpu_ms: 0 } }
  let from = process.threadCpuUsage()
  const onBegun = () => {
    from = process.threadCpuUsage()
  }
  const onEnded = (sql: unknown) => {
    const { user, system } = process.threadCpuUsage(from)
    const cpu_ms = (user + system) / 1000
    measured.count++
    if (cpu_ms > measured.slowest.cpu_ms) measured.slowest = { sql: String(sql), cpu_ms }
  }
  subscribe(begun, onBegun)
  subscribe(ended, onEnded)
  try {
    await work()
    return measured
  } finally {
    unsubscribe(begun, onBegun)
    unsubscribe(ended, onEnded)
  }
}
