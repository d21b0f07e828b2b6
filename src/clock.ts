/** Milliseconds since 1970, as a machine tells them. Somebody may set that machine's clock, also back. */
export type WallClock = { now(): number }

/**
 * The one source of time below main, so that tests can turn it. `now` is for what people read. `elapsed` is service time,
 * in whole milliseconds, for retries, leases and limits: setting a clock does not change it, it goes on over restarts,
 * and all processes on a database share it (db/service-clock.ts).
 */
export type Clock = WallClock & { elapsed(): number }

/** For commands, which make nothing that is due later. */
export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed() {
    throw new Error('Service time is known to a running service only.')
  },
}

/** Goes on from the machine's clock at the start, whoever sets that clock since. */
export const steadyClock: WallClock = { now: () => performance.timeOrigin + performance.now() }

/** One moment on both scales. */
export type Moment = { now_ms: number; elapsed_ms: number }

export const momentOf = (clock: Clock): Moment => ({ now_ms: clock.now(), elapsed_ms: clock.elapsed() })

/** What people read for a service time, when the clocks are as they are at `moment`. */
export const shownTime = (elapsed_ms: number, moment: Moment): string =>
  isoTime(moment.now_ms + elapsed_ms - moment.elapsed_ms)

/** ISO 8601 UTC with milliseconds, the form of every timestamp. */
export const isoTime = (ms: number): string => new Date(ms).toISOString()

/** When a job of the background is done: after the start, and from then on; only while `when` allows it. */
export type Timing = { first_ms: number; every_ms: number; when?: () => Promise<boolean> }

// A job that was not allowed asks again this soon, so that an administrator sees what their word does.
const ask_again_ms = 10_000

/**
 * Does a job soon and again and again, never twice at once; returns the function that stops it, which resolves when the job
 * has ended. The job ends early, by throwing or not, when its signal is aborted.
 */
export function repeat(
  job: (stopping: AbortSignal) => Promise<void>,
  { first_ms, every_ms, when }: Timing,
  onError: (error: unknown) => void,
): () => Promise<void> {
  const stopping = new AbortController()
  const { signal } = stopping
  let running: Promise<void> | null = null
  let again: NodeJS.Timeout | undefined
  async function runWhenAllowed() {
    clearTimeout(again)
    if (!when || (await when())) return job(signal)
    if (!signal.aborted) again = setTimeout(run, Math.min(ask_again_ms, every_ms)).unref()
  }
  const run = () => {
    running ??= runWhenAllowed()
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
    clearTimeout(again)
  }
}
