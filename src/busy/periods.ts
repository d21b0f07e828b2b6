/** A time at which somebody is busy, in ms since 1970. */
export type Period = { start_ms: number; end_ms: number }

/** The periods in order, with those that touch or overlap as one. */
export function merged(periods: readonly Period[]): Period[] {
  const found: Period[] = []
  for (const { start_ms, end_ms } of periods.toSorted((a, b) => a.start_ms - b.start_ms)) {
    const last = found.at(-1)
    if (last && start_ms <= last.end_ms) last.end_ms = Math.max(last.end_ms, end_ms)
    else if (start_ms < end_ms) found.push({ start_ms, end_ms })
  }
  return found
}
