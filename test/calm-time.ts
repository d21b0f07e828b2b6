const turn_ms = 10

/** The CPU time of work, in all threads of this process. Other processes do not lengthen it. */
export async function cpuTime(work: () => unknown): Promise<number> {
  const begun = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(begun)
  return (user + system) / 1000
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
