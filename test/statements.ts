import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises'

const begun = 'rapport:sqlite:statement:begun'
const ended = 'rapport:sqlite:statement:ended'

/** In milliseconds of this thread's CPU time, which does not include other programs on a busy machine. */
export type Measured = {
  /** How many statements on SQLite ran in this process. */
  count: number
  slowest: { sql: string; cpu_ms: number }
  /** The longest turn of the event loop, during which no other request was served. */
  longest_turn_ms: number
}

const since = (from: NodeJS.CpuUsage): number => {
  const { user, system } = process.threadCpuUsage(from)
  return (user + system) / 1000
}

/** Measures the statements on SQLite, and the turns of the event loop, of this process while work is done. */
export async function measureStatements(work: () => Promise<unknown>): Promise<Measured> {
  const measured: Measured = { count: 0, slowest: { sql: '', cpu_ms: 0 }, longest_turn_ms: 0 }
  let from = process.threadCpuUsage()
  const onBegun = () => {
    from = process.threadCpuUsage()
  }
  const onEnded = (sql: unknown) => {
    const cpu_ms = since(from)
    measured.count++
    if (cpu_ms > measured.slowest.cpu_ms) measured.slowest = { sql: String(sql), cpu_ms }
  }
  let working = true
  async function watchTurns() {
    while (working) {
      const before = process.threadCpuUsage()
      await turn()
      measured.longest_turn_ms = Math.max(measured.longest_turn_ms, since(before))
    }
  }
  subscribe(begun, onBegun)
  subscribe(ended, onEnded)
  const watching = watchTurns()
  try {
    await work()
  } finally {
    working = false
    await watching
    unsubscribe(begun, onBegun)
    unsubscribe(ended, onEnded)
  }
  return measured
}

/**
 * Measures up to ten times, until the result is good: a garbage collection, a cold page or other programs that share
 * the cache may slow some tries. Returns the good result, or the last one.
 */
export async function bestOfTen<M>(measure: () => Promise<M>, isGood: (one: M) => boolean): Promise<M> {
  let measured = await measure()
  for (let again = 1; again < 10 && !isGood(measured); again++) {
    await pause(again * 50)
    measured = await measure()
  }
  return measured
}
