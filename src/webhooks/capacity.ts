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

type Load = { in_flight: number; limit: number; failures: number }

/**
 * How many deliveries each webhook may have in flight. A webhook starts small, grows with each success and shrinks when
 * it times out or answers with an overload; after three failures in a row it is probed one by one. The second half of
 * all places is for those that answer, and one each for the unknown: slow and dead endpoints never take it.
 */
export function createCapacity() {
  const loads = new Map<string, Load>()
  let in_flight = 0

  const load = (webhook_id: string): Load =>
    loads.get(webhook_id) ?? { in_flight: 0, limit: first_limit, failures: 0 }

  /** Places that a webhook may take now, when `promised` other ones are about to be taken. */
  function free(webhook_id: string, promised = 0): number {
    const { limit, in_flight: mine, failures } = load(webhook_id)
    const room = most_in_all - in_flight - promised
    const answers = limit > first_limit
    const in_a_crowd = failures >= failures_to_probe ? 0 : answers ? first_limit : 1
    const alone = room > (most_in_all * 3) / 4
    const allowed = alone ? limit : room > most_in_all / 2 ? Math.min(limit, most_per_webhook) : in_a_crowd
    return Math.max(0, Math.min(allowed - mine, room))
  }

  return {
    free,
    /** Whether so many places are taken that not everybody gets as many as would do. */
    crowded: () => in_flight >= most_in_all / 2,
    /** How many webhooks are known to have no free place. */
    full: () => [...loads.keys()].filter((webhook_id) => free(webhook_id) === 0).length,
    taken(webhook_id: string): void {
      const mine = load(webhook_id)
      mine.in_flight++
      in_flight++
      loads.set(webhook_id, mine)
    },
    /** Notes the end of an attempt; null when there was no outcome to learn from. */
    returned(webhook_id: string, outcome: AttemptOutcome | null): void {
      const mine = load(webhook_id)
      mine.in_flight--
      in_flight--
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
