import type { Clock } from '../clock.ts'

export type Allowance = {
  limit: number
  remaining: number
  reset_seconds: number
  retry_after_seconds: number
}

/**
 * Counts requests of a key, by default one: all of them, or none above the limit. Returns no promise if possible, because
 * every request passes here.
 */
export type Limiter = (key: string, count?: number) => Allowance | Promise<Allowance>

// Above this number, full buckets are removed.
const clean_above = 10_000
// At this number, the oldest bucket is removed. Its key then has a full bucket again.
const max_buckets = 100_000

/** The time to refill an empty bucket. */
export const burst_seconds = 2

/**
 * A token bucket for each key: `per_second` requests sustained and a burst of twice that; null when `per_second` is 0.
 * `reset_seconds` is the time until the bucket is full. `retry_after_seconds` is 0 for an allowed request.
 */
export function createLimiter(
  per_second: number,
  clock: Pick<Clock, 'elapsed'>,
): ((key: string, count?: number) => Allowance) | null {
  if (per_second === 0) return null
  const limit = per_second * burst_seconds
  const buckets = new Map<string, { tokens: number; at_ms: number }>()
  let cleaned_ms = 0

  return (key, count = 1) => {
    const now_ms = clock.elapsed()
    let bucket = buckets.get(key)
    if (!bucket) {
      // Remove full buckets, which equal new ones. Do it at most every 2 s: with many new keys, a scan for each would
      // be slow.
      if (buckets.size > clean_above && Math.abs(now_ms - cleaned_ms) > burst_seconds * 1000) {
        for (const [name, { at_ms }] of buckets)
          if (now_ms - at_ms > burst_seconds * 1000) buckets.delete(name)
        cleaned_ms = now_ms
      }
      if (buckets.size >= max_buckets) buckets.delete(buckets.keys().next().value as string)
      bucket = { tokens: limit, at_ms: now_ms }
      buckets.set(key, bucket)
    }
    const refilled = bucket.tokens + (Math.max(0, now_ms - bucket.at_ms) / 1000) * per_second
    bucket.tokens = Math.min(limit, refilled)
    bucket.at_ms = now_ms
    const allowed = bucket.tokens >= count
    if (allowed) bucket.tokens -= count
    return {
      limit,
      remaining: Math.floor(bucket.tokens),
      reset_seconds: Math.ceil((limit - bucket.tokens) / per_second),
      retry_after_seconds: allowed ? 0 : Math.max(1, Math.ceil((count - bucket.tokens) / per_second)),
    }
  }
}
