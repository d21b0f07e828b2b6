import type { AttemptOutcome } from './deliver.ts'

// Attempts in flight of one process. An attempt costs a socket and some kilobytes.
const max_in_flight = 512
const initial_limit = 4
const max_per_webhook = 32
// A receiver that answers within quick_ms may have more in flight, so each transaction writes more outcomes. This holds
// only while at most a quarter of all slots are in use, or while several webhooks that answer share half of them.
const max_if_quick = 128
const quick_ms = 250
const failures_to_probe = 3
// A receiver that answers these refuses load, not one request.
const overload_statuses = [429, 502, 503, 504]

// A webhook whose oldest deliveries fail, or neither start nor end for stuck_ms, has one more slot, for its newest
// delivery. So events of other records do not wait for the backlog of a failing one. An attempt in this slot that takes
// longer than stuck_ms is joined by another one, while at most a quarter of all slots are in use.
const stuck_ms = 500
const max_newest = 4
// A webhook with max_per_second uses at most one start in this time for the newest, so that its oldest are not starved.
const paced_newest_ms = 2000

// Bodies in flight of one process: 20 times the largest body, and little memory for a small container.
const max_bytes = 16 * 1024 * 1024
// The number of slots limits the memory of small bodies (512 × 16 KiB = 8 MiB). So they never wait for large bodies.
export const small_body_bytes = 16 * 1024
const weightOf = (bytes: number) => (bytes <= small_body_bytes ? 0 : bytes)

/** A webhook whose newest deliveries may get a slot. */
type NewestOf = { webhook_id: string; max_per_second?: number | null }

type Load = {
  in_flight: number
  weight: number
  limit: number
  failures: number
  /** When an attempt started or ended. */
  moved_ms: number
  /** Attempts in the slot for the newest, which the other numbers leave out, and the last start of one. */
  newest: { in_flight: number; started_ms: number }
}

export type Capacity = ReturnType<typeof createCapacity>

/**
 * Limits the deliveries in flight for each webhook. A limit grows with each success and halves after a timeout or an
 * overload. Three failures in a row reduce it: to one without answers, to the initial limit with them. Slow and dead
 * endpoints never get the second half of all slots. That half is for webhooks that answer, and for one slot of each new
 * webhook. The bytes of large bodies follow the same rule. `monotonic_ms` is performance.now().
 */
export function createCapacity(monotonic_ms: () => number = () => performance.now()) {
  const loads = new Map<string, Load>()
  let in_flight = 0
  let weight = 0
  // Slots that may be used. A slow start sets this to one; each ended attempt adds one.
  let usable = max_in_flight
  // The webhooks that answer and have due deliveries, and the slots of each.
  let sharing = 0
  let slots_each = max_in_flight

  const load = (webhook_id: string): Load =>
    loads.get(webhook_id) ?? {
      in_flight: 0,
      weight: 0,
      limit: initial_limit,
      failures: 0,
      moved_ms: monotonic_ms(),
      newest: { in_flight: 0, started_ms: Number.NEGATIVE_INFINITY },
    }

  /** The slots that a webhook may take now, when this round has already reserved `promised` slots. */
  function free(webhook_id: string, promised = 0): number {
    const { limit, in_flight: own, failures } = load(webhook_id)
    const room = max_in_flight - in_flight - promised
    const answers = limit > initial_limit
    const if_crowded = failures >= failures_to_probe && limit === 1 ? 0 : answers ? initial_limit : 1
    const mostly_free = room > (max_in_flight * 3) / 4
    const half_free = room > max_in_flight / 2
    const if_half_free = sharing > 1 ? limit : Math.min(limit, max_per_webhook)
    const allowed = mostly_free ? limit : half_free ? if_half_free : if_crowded
    return Math.max(0, Math.min(allowed - own, slots_each - own, usable - in_flight - promised))
  }

  /** The slots for the newest deliveries of a webhook that it may take now, beside its others: none or one. */
  function freeForNewest({ webhook_id, max_per_second = null }: NewestOf): number {
    const own = loads.get(webhook_id)
    if (!own) return 0
    const now_ms = monotonic_ms()
    const stuck = own.in_flight > 0 && now_ms - own.moved_ms >= stuck_ms
    if (own.failures < failures_to_probe && !stuck) return 0
    const { in_flight: count, started_ms } = own.newest
    const room = count > 0 ? max_in_flight / 4 : max_in_flight / 2
    if (count === max_newest || in_flight >= Math.min(room, usable)) return 0
    const pause_ms = max_per_second !== null ? paced_newest_ms : count > 0 ? stuck_ms : 0
    return now_ms - started_ms >= pause_ms ? 1 : 0
  }

  /** Whether a large body may be sent now, when this round has already reserved `promised` bytes. */
  function fits(webhook_id: string, bytes: number, promised: number, first: boolean): boolean {
    const room = max_bytes - weight - promised
    // A body larger than max_bytes is sent when no other large body is in flight.
    if (room === max_bytes) return true
    if (bytes > room) return false
    const own = load(webhook_id)
    if (room > max_bytes / 2 || own.limit > initial_limit) return true
    return first && own.weight === 0 && own.failures < failures_to_probe
  }

  return {
    free,
    freeForNewest,
    /**
     * Gives equal shares of half of all slots to the webhooks that answer, among those with due deliveries. Rows of an event
     * are neighbours in the database, so a batch writes fewer pages when all webhooks are at about the same event.
     */
    shareAmong(due: readonly { webhook_id: string }[]): void {
      sharing = due.filter(({ webhook_id }) => load(webhook_id).limit > initial_limit).length
      slots_each = Math.max(initial_limit, Math.floor(max_in_flight / 2 / sharing))
    },
    /** The attempts of a webhook in flight beyond its share or its limit. */
    excess(webhook_id: string): number {
      const { in_flight: own, limit } = load(webhook_id)
      return Math.max(0, own - Math.min(slots_each, limit))
    },
    /** Starts a round of claims. The returned function says whether a body fits beside those accepted before. */
    round() {
      let promised = 0
      const chosen = new Set<string>()
      return (webhook_id: string, bytes: number): boolean => {
        const body_weight = weightOf(bytes)
        if (body_weight === 0) return true
        if (!fits(webhook_id, body_weight, promised, !chosen.has(webhook_id))) return false
        chosen.add(webhook_id)
        promised += body_weight
        return true
      }
    },
    /** The free slots of the process. */
    room: () => Math.max(0, usable - in_flight),
    /** Begins a slow start: one attempt at a time, and one more after each attempt that ends. */
    slowStart(): void {
      usable = 1
    },
    /** Whether webhooks compete for slots or bytes. */
    crowded: () => in_flight > max_in_flight / 2 || weight >= max_bytes / 2 || usable < max_in_flight,
    /** How many webhooks have attempts in flight or failures, and no free slot. */
    full: () => [...loads.keys()].filter((webhook_id) => free(webhook_id) === 0).length,
    acquire(webhook_id: string, bytes = 0, newest = false): void {
      const own = load(webhook_id)
      in_flight++
      own.weight += weightOf(bytes)
      weight += weightOf(bytes)
      if (newest) {
        own.newest.in_flight++
        own.newest.started_ms = monotonic_ms()
      } else {
        own.in_flight++
        own.moved_ms = monotonic_ms()
      }
      loads.set(webhook_id, own)
    },
    /**
     * Frees the slot of an attempt. `outcome` is null when the attempt says nothing about the receiver. An attempt in
     * the slot for the newest does not change the limit.
     */
    release(webhook_id: string, outcome: AttemptOutcome | null, bytes = 0, newest = false): void {
      const own = load(webhook_id)
      in_flight--
      own.weight -= weightOf(bytes)
      weight -= weightOf(bytes)
      if (outcome) usable = Math.min(max_in_flight, usable + 1)
      if (newest) own.newest.in_flight--
      else {
        own.in_flight--
        own.moved_ms = monotonic_ms()
        if (outcome) follow(own, outcome)
      }
      // Drop an entry that equals a new one.
      const idle = own.in_flight === 0 && own.newest.in_flight === 0
      if (idle && own.failures === 0 && own.limit === initial_limit) loads.delete(webhook_id)
    },
  }
}

function follow(own: Load, { ok, duration_ms, response }: AttemptOutcome): void {
  if (ok) {
    own.failures = 0
    own.limit = Math.min(duration_ms <= quick_ms ? max_if_quick : max_per_webhook, own.limit + 1)
    return
  }
  own.failures++
  const status = response?.status ?? 0
  const refuses_load = response === null || overload_statuses.includes(status)
  const least = refuses_load ? 1 : initial_limit
  if (own.failures >= failures_to_probe) own.limit = least
  else if (refuses_load || status >= 500) own.limit = Math.max(least, Math.floor(own.limit / 2))
}
