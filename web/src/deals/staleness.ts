const day_ms = 86_400_000
/** The number of a day in UTC, in which the API reads days of a range. */
const dayOf = (at_ms: number): number => Math.floor(at_ms / day_ms)

/** An open deal that was not moved for this many days stands still. */
export const stale_after_days = 14

/** The days since a deal entered its stage. */
export const daysInStage = (stage_since: string, now_ms: number): number =>
  Math.max(0, dayOf(now_ms) - dayOf(Date.parse(stage_since)))

/** Whether an open deal stands still. */
export const isStale = (
  { status, stage_since }: { status: string; stage_since?: string | null | undefined },
  now_ms: number,
): boolean =>
  status === 'open' && Boolean(stage_since) && daysInStage(stage_since ?? '', now_ms) >= stale_after_days

/** The last day, YYYY-MM-DD, on which a deal that stands still entered its stage. */
export const lastStaleDay = (now_ms: number): string =>
  new Date((dayOf(now_ms) - stale_after_days) * day_ms).toISOString().slice(0, 10)
