// Long enough to try what a healthy process had in flight. A few receivers that hang must not hold up all others longer.
const one_by_one_ms = 30_000
// Leases that end are looked for this often.
const look_every_ms = 1000

/**
 * When a process looks for deliveries that a crash interrupted, and how long it attempts those one by one. Times are on
 * the process's own clock, in milliseconds. Why it is done so: docs/decisions/0025.
 */
export function createSlowStart(now: () => number = () => performance.now()) {
  let began: number | null = null
  let next_look = 0
  return {
    /** Whether it is time to look for interrupted deliveries. */
    looks: () => began !== null || now() >= next_look,
    /** Notes a look; true when interrupted deliveries were found for the first time since none were left. */
    found(some: boolean): boolean {
      next_look = now() + look_every_ms
      const first = some && began === null
      if (first) began = now()
      if (!some) began = null
      return first
    },
    oneByOne: () => began !== null && now() - began < one_by_one_ms,
  }
}
