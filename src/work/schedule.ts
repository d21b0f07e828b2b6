/**
 * When the next attempt is due, or null when no retry is left. Times are milliseconds on one clock. `tries` includes the
 * attempt that ended at `ended_at_ms`, but no interrupted attempt. A retry is never early (contract: webhooks).
 */
export function nextAttemptAt(
  delays_seconds: readonly number[],
  tries: number,
  ended_at_ms: number,
): number | null {
  // Interrupted attempts do not count as tries. The first try is due now.
  if (tries < 1) return ended_at_ms
  const delay = delays_seconds[tries - 1]
  return delay === undefined ? null : Math.ceil(ended_at_ms + delay * 1000)
}
