import { setTimeout as pause } from 'node:timers/promises'

const turn_ms = 10

/** The CPU time of work, in all threads of this process. Other processes do not lengthen it. */
export async function cpuTime(work: () => unknown): Promise<number> {
  const begun = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(begun)
  return (user + system) / 1000
}

/**
 * The longest that the loop of this process computed without a turn during work, in ms of the processor. Other processes
 * do not lengthen it.
 */
export async function longestHold<T>(work: () => Promise<T>): Promise<{ value: T; longest_ms: number }> {
  const used_ms = () => {
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1000
  }
  let before_ms = used_ms()
  let longest_ms = 0
  const look = () => {
    const now_ms = used_ms()
    longest_ms = Math.max(longest_ms, now_ms - before_ms)
    before_ms = now_ms
  }
  const timer = setInterval(look, 1)
  try {
    const value = await work()
    await pause(2)
    look()
    return { value, longest_ms }
  } finally {
    clearInterval(timer)
  }
}

/**
 * Measures work that waits, in turns of this process's timers. A moment in which a busy machine does not run the
 * process counts as one turn, so a limit on `calm_ms` holds there too. It does not measure work that blocks the process.
 */
export async function calmTime<T>(
  work: () => Promise<T>,
): Promise<{ value: T; calm_ms: number; took_ms: number }> {
  const started = performance.now()
  let turns = 0
  const timer = setInterval(() => turns++, turn_ms)
  try {
    const value = await work()
    return { value, calm_ms: turns * turn_ms, took_ms: performance.now() - started }
  } finally {
    clearInterval(timer)
  }
}
