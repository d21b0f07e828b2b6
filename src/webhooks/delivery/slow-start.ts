// Enough to attempt what a healthy process had in flight. Longer would let a few hanging receivers delay all others.
const one_by_one_ms = 30_000
// How often the dispatcher polls for ended leases.
const poll_ms = 1000

/**
 * Decides when a process polls for deliveries that a crash interrupted, and how long it attempts them one by one. Times
 * are milliseconds of performance.now(). The reasons: docs/decisions/0025.
 */
export function createSlowStart(monotonic_ms: () => number = () => performance.now()) {
  let began_ms: number | null = null
  let next_poll_ms = 0
  return {
    /** Whether it is time to poll for interrupted deliveries. */
    isPollDue: () => began_ms !== null || monotonic_ms() >= next_poll_ms,
    /** Records a poll. True when it is the first to find interrupted deliveries since a poll that found none. */
    recordPoll(found: boolean): boolean {
      next_poll_ms = monotonic_ms() + poll_ms
      const first = found && began_ms === null
      if (first) began_ms = monotonic_ms()
      if (!found) began_ms = null
      return first
    },
    isOneByOne: () => began_ms !== null && monotonic_ms() - began_ms < one_by_one_ms,
  }
}
