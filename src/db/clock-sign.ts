/**
 * The sign of life: what the processes on a database keep of the time, for each other and for the next start. Service
 * time is `wall_ms - offset_ms`. `boot` and `steady_ms` are of the machine that wrote it last.
 */
export type Sign = {
  wall_ms: number
  offset_ms: number
  boot: string | null
  steady_ms: number
  /** Service time before which nothing is removed for good, and why. */
  held_until_ms: number
  reason: string | null
}

/** What the clocks say now: the one that people read, and one that nobody sets and that starts anew with the machine. */
export type Reading = { wall_ms: number; steady_ms: number; boot: string | null }

/** What a process knew when it looked last. */
export type Known = { elapsed_ms: number; steady_ms: number; offset_ms: number }

export const day_ms = 24 * 3600 * 1000
// NTP corrects this much without a word; removal counts in days.
const slack_ms = 60_000
// Less is the network's delay, or a clock that is being slewed: service time follows it slowly, 0.05 % at most.
const step_ms = 500
const slew_ms = 5

/**
 * The first sign of a database. An older version kept its times by the wall clock, so service time begins there. Removal is
 * held where the newest event says that this clock may be wrong; an empty database has nothing to lose.
 */
export function firstSign(newest_ms: number | null, now: Reading): Sign {
  const sign = { ...now, offset_ms: 0, held_until_ms: 0, reason: null }
  if (newest_ms === null || !isOff(now.wall_ms - newest_ms)) return sign
  return { ...sign, held_until_ms: now.wall_ms + day_ms, reason: reasonOf(newest_ms, now.wall_ms) }
}

/**
 * The next sign, and the service time. The wall clock may have been set since the last one: then the offset changes, and
 * service time goes on by what has passed. A clock that went back by more than a minute, or forward by more than a day,
 * holds removal for a day of service time. `known` is null at a start.
 */
export function judge(sign: Sign, known: Known | null, now: Reading): { sign: Sign; elapsed_ms: number } {
  const next = { ...sign, ...now }
  // Another process has judged this already.
  if (known && known.offset_ms !== sign.offset_ms)
    return { sign: next, elapsed_ms: now.wall_ms - sign.offset_ms }
  const before_ms = known?.elapsed_ms ?? sign.wall_ms - sign.offset_ms
  const elapsed_ms = before_ms + passed(sign, known, now)
  const set_ms = now.wall_ms - sign.offset_ms - elapsed_ms
  const jump_ms = known ? set_ms : now.wall_ms - sign.wall_ms
  const held = isOff(jump_ms)
    ? { held_until_ms: elapsed_ms + day_ms, reason: reasonOf(sign.wall_ms, now.wall_ms) }
    : {}
  if (Math.abs(set_ms) > step_ms)
    return { sign: { ...next, ...held, offset_ms: now.wall_ms - elapsed_ms }, elapsed_ms }
  const follow_ms = known ? Math.max(-slew_ms, Math.min(slew_ms, set_ms)) : set_ms
  return { sign: { ...next, ...held }, elapsed_ms: elapsed_ms + follow_ms }
}

// After a reboot the wall clock alone tells how long it took. One that is more than a day off is not believed: a retry
// may be late then, but never early.
function passed(sign: Sign, known: Known | null, now: Reading): number {
  if (known) return now.steady_ms - known.steady_ms
  if (sign.boot !== null && sign.boot === now.boot) return Math.max(0, now.steady_ms - sign.steady_ms)
  const by_wall_ms = now.wall_ms - sign.wall_ms
  return by_wall_ms > 0 && by_wall_ms <= day_ms ? by_wall_ms : 0
}

const isOff = (jump_ms: number) => jump_ms < -slack_ms || jump_ms > day_ms
const reasonOf = (last_ms: number, wall_ms: number) =>
  `The clock says ${time(wall_ms)}; the last sign of life is of ${time(last_ms)}.`
const time = (ms: number) => new Date(ms).toISOString()
