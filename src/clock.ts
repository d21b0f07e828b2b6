/** Milliseconds since 1970. The one source of time below main, so that tests can turn it. */
export type Clock = { now(): number }

export const systemClock: Clock = { now: () => Date.now() }

/** The same, but steady: it goes on from what the machine's clock was at the start, whoever sets that clock since. */
export const steadyClock: Clock = { now: () => performance.timeOrigin + performance.now() }

/** ISO 8601 UTC with milliseconds, the form of every timestamp. */
export const isoTime = (ms: number): string => new Date(ms).toISOString()
