import { sql } from 'kysely'
import { prepare } from './statements/prepare.ts'
import { engineOf, type Tx } from './tx.ts'

/** A row of webhook_subscriptions, and what its webhook asks for. Its event may be `deal.*` or `*`. */
export type Subscription = {
  event: string
  webhook_id: string
  /** A JSON array (events/conditions.ts); null for none. */
  conditions: string | null
  /** The form of bodies; null: the envelope. */
  format: string | null
  ordered: 0 | 1
}

// On PostgreSQL, lock the found webhooks. A concurrent deletion of a webhook may wait for this transaction: then it cancels
// its deliveries. Or it committed first: then the webhook is not found (see removeWebhook). Do not lock the subscriptions:
// after a wait for a change that replaced them, the new ones would not be found either.
const subscriptionsTo = prepare((p: { workspace_id: number; patterns: string }, db) => {
  const query = db
    .selectFrom('webhook_subscriptions as s')
    .innerJoin('webhooks as w', (join) =>
      join.onRef('w.workspace_id', '=', 's.workspace_id').onRef('w.id', '=', 's.webhook_id'),
    )
    .select(['s.event', 's.webhook_id', 'w.conditions', 'w.format', 'w.ordered'])
    .where('s.workspace_id', '=', p.workspace_id)
    .orderBy('s.webhook_id')
  if (engineOf(db) === 'sqlite')
    return query.where('s.event', 'in', sql<string>`(SELECT value FROM json_each(${p.patterns}))`)
  return query
    .where('s.event', '=', sql<string>`ANY(ARRAY(SELECT json_array_elements_text(${p.patterns}::json)))`)
    .forKeyShare('w')
})

/** The subscriptions that an event such as `deal.won` meets: `deal.won`, `deal.*` and `*`. */
const patternsOf = (event: string) => [event, `${event.split('.')[0]}.*`, '*']

/** The subscriptions to these events, in one look-up of the index. */
export function findSubscriptions(
  tx: Tx,
  workspace_id: number,
  events: readonly string[],
): Promise<Subscription[]> {
  const patterns = JSON.stringify([...new Set(events.flatMap(patternsOf))])
  return subscriptionsTo(tx, { workspace_id, patterns })
}

/** The subscriptions that an event meets, one for each webhook. */
export function recipientsOf(event: string, found: readonly Subscription[]): Subscription[] {
  const patterns = patternsOf(event)
  const matching = found.filter((one) => patterns.includes(one.event))
  return [...new Map(matching.map((one) => [one.webhook_id, one])).values()]
}

/** Whether a list of a webhook, which may have `deal.*` and `*`, has an event. */
export const isSubscribed = (list: readonly string[], event: string): boolean =>
  patternsOf(event).some((pattern) => list.includes(pattern))
