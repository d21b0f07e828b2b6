/** Milliseconds since 1970. The one source of time below main, so that tests can turn it. */
export type Clock = { now(): number }

export const systemClock: Clock = { now: () => Date.now() }

/** ISO 8601 UTC with milliseconds, the form of every timestamp. */
export const isoTime = (ms: number): string => new Date(ms).toISOString()
