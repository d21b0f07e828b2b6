/** Milliseconds since 1970 by a machine's clock. Somebody may set that clock, also back. */
export type WallClock = { now(): number }

/**
 * The only source of time below main, so that tests can set it. `now()` returns Unix milliseconds, for times that people
 * read. `elapsed()` is service time in whole milliseconds, for retries, leases and limits. Setting a clock does not change
 * it, it continues after restarts, and all processes on a database share it (db/service-clock.ts).
 */
export type Clock = WallClock & { elapsed(): number }

/** The clock of commands, which create nothing that is due later. */
export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed() {
    throw new Error('Service time is known to a running service only.')
  },
}

/** Starts at the machine's wall clock and advances monotonically: setting the wall clock does not change it. */
export const steadyClock: WallClock = { now: () => performance.timeOrigin + performance.now() }

/** The same moment in wall clock time and in service time. */
export type Moment = { now_ms: number; elapsed_ms: number }

export const momentOf = (clock: Clock): Moment => ({ now_ms: clock.now(), elapsed_ms: clock.elapsed() })

/** Converts a service time to ISO text, with the two clocks of `moment`. */
export const shownTime = (elapsed_ms: number, moment: Moment): string =>
  isoTime(moment.now_ms + elapsed_ms - moment.elapsed_ms)

/** The length of a day without a clock change. */
export const day_ms = 24 * 3600 * 1000

/** The format of every timestamp: ISO 8601, UTC with milliseconds. */
export const isoTime = (ms: number): string => new Date(ms).toISOString()
