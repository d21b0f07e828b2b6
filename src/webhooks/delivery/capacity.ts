import type { AttemptOutcome } from './deliver.ts'

// One process attempts this many deliveries at once; an attempt costs a socket and some kilobytes.
const most_in_all = 512
const first_limit = 4
const most_per_webhook = 32
// A receiver that answers this quickly is not burdened by more at once: each step to the database then carries more of
// them. But only while a quarter of all places is enough for everybody.
const most_if_quick = 128
const quick_ms = 250
const failures_to_probe = 3

// Bodies in flight of one process: twenty times the largest, and little beside the memory of a small container.
const most_bytes = 16 * 1024 * 1024
// The places bound what smaller bodies need (512 of them are 8 MiB), so those never wait for large ones.
const small_body = 16 * 1024
const weightOf = (bytes: number) => (bytes <= small_body ? 0 : bytes)

type Load = { in_flight: number; weight: number; limit: number; failures: number }

/**
 * How many deliveries each webhook may have in flight. A webhook starts small, grows with each success and shrinks when
 * it times out or answers with an overload; after three failures in a row it is probed one by one. The second half of
 * all places is for those that answer, and one each for the unknown: slow and dead endpoints never take it. The bytes of
 * large bodies are shared out by the same rule.
 */
export function createCapacity() {
  const loads = new Map<string, Load>()
  let in_flight = 0
  let weight = 0
  // Of all places those that may be used: after a crash few, and one more with each attempt that ends.
  let open = most_in_all

  const load = (webhook_id: string): Load =>
    loads.get(webhook_id) ?? { in_flight: 0, weight: 0, limit: first_limit, failures: 0 }

  /** Places that a webhook may take now, when `promised` other ones are about to be taken. */
  function free(webhook_id: string, promised = 0): number {
    const { limit, in_flight: mine, failures } = load(webhook_id)
    const room = most_in_all - in_flight - promised
    const answers = limit > first_limit
    const in_a_crowd = failures >= failures_to_probe ? 0 : answers ? first_limit : 1
    const alone = room > (most_in_all * 3) / 4
    const allowed = alone ? limit : room > most_in_all / 2 ? Math.min(limit, most_per_webhook) : in_a_crowd
    return Math.max(0, Math.min(allowed - mine, open - in_flight - promised))
  }

  /** Whether a body may be sent now, when `promised` bytes of other large ones are about to be. */
  function fits(webhook_id: string, own: number, promised: number, first: boolean): boolean {
    const room = most_bytes - weight - promised
    // A body that is larger than all the room goes alone.
    if (room === most_bytes) return true
    if (own > room) return false
    const mine = load(webhook_id)
    if (room > most_bytes / 2 || mine.limit > first_limit) return true
    return first && mine.weight === 0 && mine.failures < failures_to_probe
  }

  return {
    free,
    /** Judges the bodies of one round of claims in turn, by their sizes in bytes. */
    round() {
      let promised = 0
      const chosen = new Set<string>()
      return (webhook_id: string, bytes: number): boolean => {
        const own = weightOf(bytes)
        if (own === 0) return true
        if (!fits(webhook_id, own, promised, !chosen.has(webhook_id))) return false
        chosen.add(webhook_id)
        promised += own
        return true
      }
    },
    /** Places that are free in all. */
    room: () => Math.max(0, open - in_flight),
    /** Slow start: one attempt at a time, and one more with each that ends. */
    narrow(): void {
      open = 1
    },
    /** Whether so many places are taken that not everybody gets as many as would do. */
    crowded: () => in_flight >= most_in_all / 2 || weight >= most_bytes / 2 || open < most_in_all,
    /** How many webhooks are known to have no free place. */
    full: () => [...loads.keys()].filter((webhook_id) => free(webhook_id) === 0).length,
    taken(webhook_id: string, bytes = 0): void {
      const mine = load(webhook_id)
      mine.in_flight++
      in_flight++
      mine.weight += weightOf(bytes)
      weight += weightOf(bytes)
      loads.set(webhook_id, mine)
    },
    /** Notes the end of an attempt; null when there was no outcome to learn from. */
    returned(webhook_id: string, outcome: AttemptOutcome | null, bytes = 0): void {
      const mine = load(webhook_id)
      mine.in_flight--
      in_flight--
      mine.weight -= weightOf(bytes)
      weight -= weightOf(bytes)
      if (outcome) open = Math.min(most_in_all, open + 1)
      if (outcome?.ok) {
        mine.failures = 0
        const most = outcome.duration_ms <= quick_ms ? most_if_quick : most_per_webhook
        mine.limit = Math.min(most, mine.limit + 1)
      } else if (outcome) {
        mine.failures++
        const status = outcome.response?.status ?? 0
        const overloaded = outcome.response === null || status >= 500 || status === 429
        if (overloaded) mine.limit = Math.max(1, Math.floor(mine.limit / 2))
        if (mine.failures >= failures_to_probe) mine.limit = 1
      }
      // What a fresh entry would say need not be remembered.
      if (mine.in_flight === 0 && mine.failures === 0 && mine.limit === first_limit) loads.delete(webhook_id)
    },
  }
}
