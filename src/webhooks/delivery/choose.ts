import type { Moment } from '../../clock.ts'
import type { Tx } from '../../db/db.ts'
import { hasFanout } from '../../db/fanouts.ts'
import { prepare } from '../../db/statements/prepare.ts'
import { type Due, dueColumns, dueOf, newestDueOf, type Search, toRead } from './due.ts'
import { findInOrder, findNewestInOrder } from './in-order.ts'
import { createPacing } from './pace.ts'

/** A webhook with due deliveries. */
export type DueWebhook = {
  workspace_id: number
  webhook_id: string
  max_per_second?: number | null
  ordered?: 0 | 1
  /**
   * Set for an ordered webhook whose outcomes this transaction has just written: the records whose next delivery they
   * unblocked.
   */
  unblocked?: readonly string[]
}

/** Which webhooks to claim for, in the order of the claims, and how many deliveries of each. */
export type Wanted = {
  webhooks: readonly DueWebhook[]
  /** The oldest ones, when this round has already reserved `promised` deliveries. */
  limit: (webhook_id: string, promised: number) => number
  /** The newest ones, beside the oldest; none by default. */
  newest?: (webhook: DueWebhook) => number
}

/** A due delivery, and whether it takes the slot for the newest one. */
export type Chosen = Due & { newest: boolean }

type Request = Wanted & {
  moment: Moment
  /** The lease of a delivery whose webhook has no timeout of its own. */
  lease_ms: number
  fits: (webhook_id: string, bytes: number) => boolean
}

// Statements that are sent together. Until they answer, each webhook's whole limit counts as promised.
const statements_at_once = 8

/** Finds the deliveries to claim, of the webhooks that are in `targets` when it resolves. */
export async function chooseDue(
  tx: Tx,
  { webhooks, limit, newest: newestOf = () => 0, moment, lease_ms, fits }: Request,
  targets: Promise<{ has: (webhook_id: string) => boolean }>,
): Promise<Chosen[]> {
  const { elapsed_ms } = moment
  const chosen: Chosen[] = []
  const pacing = createPacing(tx, elapsed_ms)
  for (let from = 0; from < webhooks.length; from += statements_at_once) {
    let promised = chosen.length
    const due = webhooks.slice(from, from + statements_at_once).map((webhook) => {
      const room = Math.max(0, limit(webhook.webhook_id, promised))
      const newest = newestOf(webhook)
      promised += room + newest
      return dueOfWebhook(tx, webhook, { room, newest, elapsed_ms, lease_ms }, pacing.free)
    })
    const found = await Promise.all(due)
    const known = await targets
    const isKnown = ({ webhook_id }: Due) => known.has(webhook_id)
    for (const rows of found.map((some) => some.filter(isKnown)))
      for (const newest of [true, false])
        chosen.push(
          ...fitting(
            rows.filter((row) => row.newest === newest),
            fits,
          ),
        )
  }
  pacing.store(chosen)
  return chosen
}

type Room = { room: number; newest: number; elapsed_ms: number; lease_ms: number }

async function dueOfWebhook(
  tx: Tx,
  webhook: DueWebhook,
  { room, newest, elapsed_ms, lease_ms }: Room,
  freeOf: ReturnType<typeof createPacing>['free'],
): Promise<Chosen[]> {
  if (room + newest < 1) return []
  const { workspace_id, webhook_id, max_per_second = null, ordered = 0, unblocked } = webhook
  // The search looks for them, too, but reads the whole queue before it knows.
  if (ordered && (await hasFanout(tx, webhook))) return []
  const search = (limit: number): Search => ({ workspace_id, webhook_id, elapsed_ms, limit })
  const lease_ends_ms = elapsed_ms + lease_ms
  const free = ordered || max_per_second !== null ? freeOf(webhook) : Promise.resolve(room + newest)
  // After an outcome, this transaction holds the lock of an ordered webhook. Otherwise check first: a search locks rows.
  if (ordered && unblocked)
    return marked(await findInOrder(tx, search(room), { lease_ends_ms, unblocked, free }), false)
  const allowed = await free
  const last = Math.min(newest, allowed)
  const from_end = last < 1 ? [] : await findNewest(tx, search(last), ordered, lease_ends_ms)
  const left = Math.min(room, allowed - from_end.length)
  const from_start = left < 1 ? [] : await findOldest(tx, search(left), ordered, lease_ends_ms)
  // Both searches may find the same row.
  const taken = new Set(from_end.map(({ delivery_id }) => delivery_id))
  const others = from_start.filter(({ delivery_id }) => !taken.has(delivery_id))
  return [...marked(from_end, true), ...marked(others, false)]
}

const marked = (rows: readonly Due[], newest: boolean): Chosen[] => rows.map((row) => ({ ...row, newest }))

const oldestDue = prepare((p: Search, db) => dueOf(db, p, dueColumns(toRead(db))))
const newestDue = prepare((p: Search, db) => newestDueOf(db, p, dueColumns(toRead(db))))

function findOldest(tx: Tx, search: Search, ordered: 0 | 1, lease_ends_ms: number): Promise<Due[]> {
  if (!ordered) return oldestDue(tx, search)
  return findInOrder(tx, search, { lease_ends_ms, unblocked: [], free: Promise.resolve(search.limit) })
}

const findNewest = (tx: Tx, search: Search, ordered: 0 | 1, lease_ends_ms: number): Promise<Due[]> =>
  ordered ? findNewestInOrder(tx, search, lease_ends_ms) : newestDue(tx, search)

/** The deliveries before the first whose body does not fit. A later one may not overtake it. */
export function fitting<Row extends Due>(due: readonly Row[], fits: Request['fits']): Row[] {
  const first = due.findIndex(({ webhook_id, bytes }) => !fits(webhook_id, bytes))
  return due.slice(0, first < 0 ? due.length : first)
}
