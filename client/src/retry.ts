import type { RapportError } from './errors.ts'

const first_delay_ms = 500
const longest_delay_ms = 20_000

/**
 * The milliseconds before the next attempt: those of Retry-After, else doubling from 500. A random part spreads clients
 * that were refused together.
 */
export function retryDelay({ retry_after_s }: RapportError, retries: number): number {
  if (retry_after_s !== null) return retry_after_s * 1000 + Math.random() * first_delay_ms
  return Math.min(first_delay_ms * 2 ** retries, longest_delay_ms) * (0.5 + Math.random() / 2)
}

/** Resolves after the time, or rejects with the signal's reason. */
export function wait(delay_ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end)
      resolve()
    }, delay_ms)
    if (signal?.aborted) end()
    else signal?.addEventListener('abort', end, { once: true })
  })
}
