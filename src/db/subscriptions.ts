import { sql } from 'kysely'
import type { Db } from './db.ts'
import { engineOf, prepare } from './statements/prepare.ts'

/** A row of webhook_subscriptions. Its event may be `deal.*` or `*`. */
export type Subscription = { event: string; webhook_id: string }

// On PostgreSQL, lock the found subscriptions. A concurrent deletion of the webhook may wait for this transaction: then
// it cancels its deliveries. Or it committed first: then its subscription is not found (see removeWebhook).
const subscriptionsTo = prepare((db, p: { workspace_id: number; patterns: string }) => {
  const query = db
    .selectFrom('webhook_subscriptions')
    .select(['event', 'webhook_id'])
    .where('workspace_id', '=', p.workspace_id)
    .orderBy('webhook_id')
  if (engineOf(db) === 'sqlite')
    return query.where('event', 'in', sql<string>`(SELECT value FROM json_each(${p.patterns}))`)
  return query
    .where('event', '=', sql<string>`ANY(ARRAY(SELECT json_array_elements_text(${p.patterns}::json)))`)
    .forKeyShare()
})

/** The subscriptions that an event such as `deal.won` meets: `deal.won`, `deal.*` and `*`. */
const patternsOf = (event: string) => [event, `${event.split('.')[0]}.*`, '*']

/** The subscriptions to these events, in one look-up of the index. */
export function findSubscriptions(
  tx: Db,
  workspace_id: number,
  events: readonly string[],
): Promise<Subscription[]> {
  const patterns = JSON.stringify([...new Set(events.flatMap(patternsOf))])
  return subscriptionsTo(tx, { workspace_id, patterns })
}

/** The webhooks that get an event. Several subscriptions of a webhook may match. */
export function recipientsOf(event: string, found: readonly Subscription[]): string[] {
  const patterns = patternsOf(event)
  return [...new Set(found.flatMap((one) => (patterns.includes(one.event) ? [one.webhook_id] : [])))]
}
