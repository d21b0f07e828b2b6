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
