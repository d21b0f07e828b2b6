/** Milliseconds since 1970. The one source of time below main, so that tests can turn it. */
export type Clock = { now(): number }

export const systemClock: Clock = { now: () => Date.now() }

/** The same, but steady: it goes on from what the machine's clock was at the start, whoever sets that clock since. */
export const steadyClock: Clock = { now: () => performance.timeOrigin + performance.now() }

/** ISO 8601 UTC with milliseconds, the form of every timestamp. */
export const isoTime = (ms: number): string => new Date(ms).toISOString()

/** When a job of the background is done: after the start, and from then on. */
export type Timing = { first_ms: number; every_ms: number }

/**
 * Does a job soon and again and again, never twice at once; returns the function that stops it, which resolves when the job
 * has ended. The job ends early, by throwing or not, when its signal is aborted.
 */
export function repeat(
  job: (stopping: AbortSignal) => Promise<void>,
  { first_ms, every_ms }: Timing,
  onError: (error: unknown) => void,
): () => Promise<void> {
  const stopping = new AbortController()
  const { signal } = stopping
  let running: Promise<void> | null = null
  const run = () => {
    running ??= job(signal)
      .catch((error) => {
        if (!signal.aborted) onError(error)
      })
      .finally(() => {
        running = null
      })
  }
  const first = setTimeout(run, first_ms)
  const timer = setInterval(run, every_ms)
  for (const one of [first, timer]) one.unref()
  return async () => {
    clearTimeout(first)
    clearInterval(timer)
    stopping.abort()
    await running
  }
}
