/**
 * The sign of life: the last known time. The processes on a database share it, and the next start reads it. Service
 * time is `wall_ms - offset_ms`. `boot` and `steady_ms` come from the machine that wrote it last.
 */
export type Sign = {
  wall_ms: number
  offset_ms: number
  boot: string | null
  steady_ms: number
  /** The service time until which removal is held, and the reason. */
  held_until_ms: number
  reason: string | null
}

/** A reading of the wall clock and of the monotonic clock, which starts at zero with the machine. */
export type ClockReading = { wall_ms: number; steady_ms: number; boot: string | null }

/** The state of a process at its last reading. */
export type Known = { elapsed_ms: number; steady_ms: number; offset_ms: number }

export const day_ms = 24 * 3600 * 1000
// NTP may correct this much at once, and removal counts in days.
const slack_ms = 60_000
// A smaller difference is network delay or a slewed clock. Service time follows it by at most 5 ms a reading (0.05 %).
const step_ms = 500
const slew_ms = 5

/**
 * The first sign of life of a database. Older versions used the wall clock, so service time starts equal to it. Removal is
 * held when the newest event shows that this clock may be wrong. An empty database has nothing to remove.
 */
export function firstSign(newest_ms: number | null, now: ClockReading): Sign {
  const sign = { ...now, offset_ms: 0, held_until_ms: 0, reason: null }
  if (newest_ms === null || !isOff(now.wall_ms - newest_ms)) return sign
  return { ...sign, held_until_ms: now.wall_ms + day_ms, reason: reasonOf(newest_ms, now.wall_ms) }
}

/**
 * The next sign of life, and the service time. After a set of the wall clock, the offset changes, and service time
 * advances by the elapsed time. A step back of more than a minute, or forward of more than a day, holds removal for a
 * day. `known` is null at a start.
 */
export function judge(
  sign: Sign,
  known: Known | null,
  now: ClockReading,
): { sign: Sign; elapsed_ms: number } {
  const next = { ...sign, ...now }
  // Another process has already changed the offset.
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

// After a reboot, only the wall clock shows the elapsed time. A step of more than a day is not trusted: a retry may then
// be late, but never early.
function passed(sign: Sign, known: Known | null, now: ClockReading): number {
  if (known) return now.steady_ms - known.steady_ms
  if (sign.boot !== null && sign.boot === now.boot) return Math.max(0, now.steady_ms - sign.steady_ms)
  const by_wall_ms = now.wall_ms - sign.wall_ms
  return by_wall_ms > 0 && by_wall_ms <= day_ms ? by_wall_ms : 0
}

const isOff = (jump_ms: number) => jump_ms < -slack_ms || jump_ms > day_ms
const reasonOf = (last_ms: number, wall_ms: number) =>
  `The clock says ${time(wall_ms)}, but the last sign of life is from ${time(last_ms)}.`
const time = (ms: number) => new Date(ms).toISOString()
