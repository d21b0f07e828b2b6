import type { Tx } from '../../db/db.ts'
import { rowLock } from '../../db/locks.ts'
import { prepare } from '../../db/statements/prepare.ts'

// A webhook's `max_per_second` holds for all processes: its row has the starts of the last second. Each claim locks the
// row, so claims of a paced webhook follow one another. So do those of an ordered one (in-order.ts).

/** A second, and the time that may pass between a claim and the first byte of its request. */
const window_ms = 1100
// Starts within this time share an entry, so the list has at most 23 entries.
const bucket_ms = 50

/** Starts: a service time, and how many. The oldest first. */
type Starts = readonly (readonly [at_ms: number, count: number])[]

type Webhook = { workspace_id: number; webhook_id: string }

// Another process that claims for this webhook has the lock. Its commit wakes this process.
const lockPace = prepare((p: Webhook, db) => {
  const query = db
    .selectFrom('webhooks')
    .select(['status', 'max_per_second', 'recent_starts'])
    .where('workspace_id', '=', p.workspace_id)
    .where('id', '=', p.webhook_id)
  return query.modifyEnd(rowLock(db, 'FOR NO KEY UPDATE SKIP LOCKED'))
})

const storePace = prepare((p: Webhook & { recent_starts: string; paced_until_ms: number | null }, db) =>
  db
    .updateTable('webhooks')
    .set({ recent_starts: p.recent_starts, paced_until_ms: p.paced_until_ms })
    .where('workspace_id', '=', p.workspace_id)
    .where('id', '=', p.webhook_id),
)

/** Counts the starts of paced webhooks in one transaction of claims. */
export function createPacing(tx: Tx, elapsed_ms: number) {
  const paces = new Map<string, Webhook & { max: number; starts: Starts }>()
  return {
    /** How many deliveries of a webhook may start now. Locks the webhook until the commit; 0 if another process has the lock. */
    async free({ workspace_id, webhook_id }: Webhook): Promise<number> {
      const [row] = await lockPace(tx, { workspace_id, webhook_id })
      if (!row || row.status === 'paused') return 0
      if (row.max_per_second === null) return Number.POSITIVE_INFINITY
      const starts = recent(JSON.parse(row.recent_starts ?? '[]'), elapsed_ms)
      paces.set(webhook_id, { workspace_id, webhook_id, max: row.max_per_second, starts })
      return Math.max(0, row.max_per_second - total(starts))
    },
    /** Stores the starts of the chosen deliveries. */
    store(chosen: readonly { webhook_id: string }[]): void {
      for (const { max, starts: before, ...webhook } of paces.values()) {
        const count = chosen.filter(({ webhook_id }) => webhook_id === webhook.webhook_id).length
        const starts = count ? withStarts(before, elapsed_ms, count) : before
        const next_ms = total(starts) < max ? null : (starts[0]?.[0] ?? elapsed_ms) + window_ms
        tx.defer(
          storePace(tx, { ...webhook, recent_starts: JSON.stringify(starts), paced_until_ms: next_ms }),
        )
      }
    },
  }
}

const total = (starts: Starts) => starts.reduce((sum, [, count]) => sum + count, 0)

const recent = (starts: Starts, elapsed_ms: number): Starts =>
  starts.filter(([at_ms]) => at_ms + window_ms > elapsed_ms)

// An entry has the time of its last start: it ends too late, never too early.
function withStarts(starts: Starts, at_ms: number, count: number): Starts {
  const last = starts.at(-1)
  if (!last || at_ms - last[0] >= bucket_ms || starts.length < 2) return [...starts, [at_ms, count]]
  return [...starts.slice(0, -1), [at_ms, last[1] + count]]
}
