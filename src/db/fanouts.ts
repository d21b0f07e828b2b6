import type { Db } from './db.ts'
import { prepare } from './statements/prepare.ts'
import { prepareInsert } from './statements/recordset.ts'
import type { Tx } from './tx.ts'

// The deliveries of a transaction with very many of them: for each webhook, the ids of the events that it gets. They are
// inserted in small transactions (webhooks/delivery/fanouts.ts).

/** How many deliveries one transaction inserts. It takes a few milliseconds. */
const slice = 200

type FannedOut = {
  context: { workspace_id: number }
  delivery: { event_id: string }
  recipients: readonly { webhook_id: string; format: string | null }[]
}

const insert = prepareInsert('webhook_fanouts', {
  workspace_id: 'bigint!',
  webhook_id: 'text!',
  first_id: 'text!',
  event_ids: 'text!',
  format: 'text',
})

/** Stores which webhooks get which events, in the transaction of the events. */
export async function waitInFanout(tx: Tx, events: readonly FannedOut[]): Promise<void> {
  type Webhook = { workspace_id: number; webhook_id: string; format: string | null; ids: string[] }
  const webhooks = new Map<string, Webhook>()
  for (const { context, delivery, recipients } of events)
    for (const { webhook_id, format } of recipients) {
      let webhook = webhooks.get(webhook_id)
      if (!webhook) {
        webhook = { workspace_id: context.workspace_id, webhook_id, format, ids: [] }
        webhooks.set(webhook_id, webhook)
      }
      webhook.ids.push(delivery.event_id)
    }
  const rows = [...webhooks.values()].flatMap(({ ids, ...webhook }) =>
    // The first id is the lowest, by which fanoutOf finds an event.
    slicesOf(ids.sort()).map((some) => ({
      ...webhook,
      first_id: some[0] as string,
      event_ids: JSON.stringify(some),
    })),
  )
  tx.announce('backlog')
  tx.defer(insert(tx, rows))
}

const slicesOf = (ids: readonly string[]): string[][] =>
  Array.from({ length: Math.ceil(ids.length / slice) }, (_, n) => ids.slice(n * slice, (n + 1) * slice))

type Webhook = { workspace_id: number; webhook_id: string }

const ofWebhook = prepare((p: Webhook, db) =>
  db
    .selectFrom('webhook_fanouts')
    .select('first_id')
    .where('workspace_id', '=', p.workspace_id)
    .where('webhook_id', '=', p.webhook_id)
    .limit(1),
)

/** Whether deliveries of a webhook wait to be inserted. */
export const hasFanout = async (tx: Tx, { workspace_id, webhook_id }: Webhook): Promise<boolean> =>
  (await ofWebhook(tx, { workspace_id, webhook_id })).length > 0

/** The webhooks whose delivery of an event waits to be inserted. */
export async function fanoutOf(db: Db, workspace_id: number, event_id: string): Promise<string[]> {
  const found = await db
    .selectFrom('webhook_fanouts')
    .select('webhook_id')
    .where('workspace_id', '=', workspace_id)
    .where('first_id', '<=', event_id)
    .where('event_ids', 'like', `%"${event_id}"%`)
    .execute()
  return found.map(({ webhook_id }) => webhook_id)
}
