import type { Clock } from '../clock.ts'

export type Allowance = {
  limit: number
  remaining: number
  reset_seconds: number
  retry_after_seconds: number
}

/** Counts a request of a key. Without a promise where it can be: every request passes here. */
export type Limiter = (key: string) => Allowance | Promise<Allowance>

const max_kept = 10_000
// However many come at once: beyond, the oldest bucket is forgotten, and its key has a full one again.
const max_buckets = 100_000

/** A full bucket is what comes back in this time. */
export const burst_seconds = 2

/**
 * A token bucket for each key: `per_second` requests sustained, a burst of twice that; null when it is off.
 * `reset_seconds`: until the bucket is full again; `retry_after_seconds` is 0 when the request may go on.
 */
export function createLimiter(
  per_second: number,
  clock: Pick<Clock, 'elapsed'>,
): ((key: string) => Allowance) | null {
  if (per_second === 0) return null
  const limit = per_second * burst_seconds
  const buckets = new Map<string, { tokens: number; at: number }>()
  let cleaned_at = 0

  return (key) => {
    const now = clock.elapsed()
    let bucket = buckets.get(key)
    if (!bucket) {
      // Full buckets are as good as none: forget them before the map grows large. As often as there can be new ones: a
      // look at all of them for each new key would cost most when most keys come.
      if (buckets.size > max_kept && Math.abs(now - cleaned_at) > burst_seconds * 1000) {
        for (const [name, { at }] of buckets) if (now - at > burst_seconds * 1000) buckets.delete(name)
        cleaned_at = now
      }
      if (buckets.size >= max_buckets) buckets.delete(buckets.keys().next().value as string)
      bucket = { tokens: limit, at: now }
      buckets.set(key, bucket)
    }
    const refilled = bucket.tokens + (Math.max(0, now - bucket.at) / 1000) * per_second
    bucket.tokens = Math.min(limit, refilled)
    bucket.at = now
    const allowed = bucket.tokens >= 1
    if (allowed) bucket.tokens -= 1
    return {
      limit,
      remaining: Math.floor(bucket.tokens),
      reset_seconds: Math.ceil((limit - bucket.tokens) / per_second),
      retry_after_seconds: allowed ? 0 : Math.max(1, Math.ceil((1 - bucket.tokens) / per_second)),
    }
  }
}
