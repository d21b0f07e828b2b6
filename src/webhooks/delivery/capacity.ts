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

// Bodies in flight of one process: 20 times the largest body, and little memory for a small container.
const max_bytes = 16 * 1024 * 1024
// The number of slots limits the memory of small bodies (512 × 16 KiB = 8 MiB). So they never wait for large bodies.
export const small_body_bytes = 16 * 1024
const weightOf = (bytes: number) => (bytes <= small_body_bytes ? 0 : bytes)

type Load = { in_flight: number; weight: number; limit: number; failures: number }

/**
 * Limits the deliveries in flight for each webhook. A limit grows with each success and halves after a timeout or an
 * overload. Three failures in a row reduce it to one. Slow and dead endpoints never get the second half of all slots.
 * That half is for webhooks that answer, and for one slot of each new webhook. The bytes of large bodies follow the same rule.
 */
export function createCapacity() {
  const loads = new Map<string, Load>()
  let in_flight = 0
  let weight = 0
  // Slots that may be used. A slow start sets this to one; each ended attempt adds one.
  let usable = max_in_flight
  // The webhooks that answer and have due deliveries, and the slots of each.
  let sharing = 0
  let slots_each = max_in_flight

  const load = (webhook_id: string): Load =>
    loads.get(webhook_id) ?? { in_flight: 0, weight: 0, limit: initial_limit, failures: 0 }

  /** The slots that a webhook may take now, when this round has already reserved `promised` slots. */
  function free(webhook_id: string, promised = 0): number {
    const { limit, in_flight: own, failures } = load(webhook_id)
    const room = max_in_flight - in_flight - promised
    const answers = limit > initial_limit
    const if_crowded = failures >= failures_to_probe ? 0 : answers ? initial_limit : 1
    const mostly_free = room > (max_in_flight * 3) / 4
    const half_free = room > max_in_flight / 2
    const if_half_free = sharing > 1 ? limit : Math.min(limit, max_per_webhook)
    const allowed = mostly_free ? limit : half_free ? if_half_free : if_crowded
    return Math.max(0, Math.min(allowed - own, slots_each - own, usable - in_flight - promised))
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
    /**
     * Gives equal shares of half of all slots to the webhooks that answer, among those with due deliveries. Rows of an event
     * are neighbours in the database, so a batch writes fewer pages when all webhooks are at about the same event.
     */
    shareAmong(due: readonly { webhook_id: string }[]): void {
      sharing = due.filter(({ webhook_id }) => load(webhook_id).limit > initial_limit).length
      slots_each = Math.max(initial_limit, Math.floor(max_in_flight / 2 / sharing))
    },
    /** The attempts of a webhook in flight beyond its share. */
    excess: (webhook_id: string): number => Math.max(0, load(webhook_id).in_flight - slots_each),
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
    acquire(webhook_id: string, bytes = 0): void {
      const own = load(webhook_id)
      own.in_flight++
      in_flight++
      own.weight += weightOf(bytes)
      weight += weightOf(bytes)
      loads.set(webhook_id, own)
    },
    /** Frees the slot of an attempt. `outcome` is null when the attempt says nothing about the receiver. */
    release(webhook_id: string, outcome: AttemptOutcome | null, bytes = 0): void {
      const own = load(webhook_id)
      own.in_flight--
      in_flight--
      own.weight -= weightOf(bytes)
      weight -= weightOf(bytes)
      if (outcome) usable = Math.min(max_in_flight, usable + 1)
      if (outcome?.ok) {
        own.failures = 0
        const max = outcome.duration_ms <= quick_ms ? max_if_quick : max_per_webhook
        own.limit = Math.min(max, own.limit + 1)
      } else if (outcome) {
        own.failures++
        const status = outcome.response?.status ?? 0
        const overloaded = outcome.response === null || status >= 500 || status === 429
        if (overloaded) own.limit = Math.max(1, Math.floor(own.limit / 2))
        if (own.failures >= failures_to_probe) own.limit = 1
      }
      // Drop an entry that equals a new one.
      if (own.in_flight === 0 && own.failures === 0 && own.limit === initial_limit) loads.delete(webhook_id)
    },
  }
}
