/**
 * When the next attempt is due, in Unix milliseconds, or null when no retry is left. `tries` counts the attempts
 * so far, the one that ended at `ended_at_ms` included; attempts that a crash interrupted are not counted
 * (contract: webhooks, retries after the previous attempt ended, never early).
 */
export function nextAttemptAt(
  delays_seconds: readonly number[],
  tries: number,
  ended_at_ms: number,
): number | null {
  // Nothing counted yet (only interrupted attempts): the first try is still owed, at once.
  if (tries < 1) return ended_at_ms
  const delay = delays_seconds[tries - 1]
  return delay === undefined ? null : Math.ceil(ended_at_ms + delay * 1000)
}
