import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { DatabaseSync } from 'node:sqlite'
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

export type MeasuredWithSlowness = Measured & { slowness: number }

const since = (from: NodeJS.CpuUsage): number => {
  const { user, system } = process.threadCpuUsage(from)
  return (user + system) / 1000
}

const yardstick_steps = 100_000
// The CPU time of these steps on the machine on which the limits of the tests were chosen.
const quiet_ms = 20

/** How many times slower this machine is now than a quiet one, from 1 to 4: the median of five runs of one statement. */
function slownessNow(): number {
  const database = new DatabaseSync(':memory:')
  const yardstick = database.prepare(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${yardstick_steps})
     SELECT count(*) FROM n WHERE i <> 'x'`,
  )
  const times = Array.from({ length: 5 }, () => {
    const from = process.threadCpuUsage()
    yardstick.get()
    return since(from)
  })
  database.close()
  const median = times.sort((a, b) => a - b)[2] as number
  return Math.min(Math.max(1, median / quiet_ms), 4)
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
 * The same, and how many times as long as on a quiet machine a statement computes now, at least 1: other programs share
 * the caches and the cores.
 */
export async function measureWithSlowness(work: () => Promise<unknown>): Promise<MeasuredWithSlowness> {
  return { ...(await measureStatements(work)), slowness: slownessNow() }
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
