import type { Db } from './db.ts'
import { prepare } from './statements/prepare.ts'
import type { Tx } from './tx.ts'
import { type Author, addWork } from './work.ts'

// The deliveries of a transaction with very many of them: for each webhook, the ids of the events that it gets. They are
// inserted in small transactions (webhooks/delivery/fanouts.ts).

/** How many deliveries one transaction inserts. It takes a few milliseconds. */
const slice = 200
const kind = 'fan_out'
// An ordered webhook gets nothing while a row of it waits. So its rows are due before others.
const first_ms = -24 * 3600 * 1000

type FannedOut = {
  context: Author
  delivery: { event_id: string }
  recipients: readonly { webhook_id: string; format: string | null; ordered?: 0 | 1 | undefined }[]
}

/** The events of a webhook whose deliveries are not inserted yet, and the form of the bodies; null: the envelope. */
export type FanOut = { event_ids: string[]; format: string | null }

/** Stores which webhooks get which events, in the transaction of the events. */
export async function waitInFanout(tx: Tx, events: readonly FannedOut[]): Promise<void> {
  const webhooks = new Map<string, FanOut & { ordered: 0 | 1 | undefined }>()
  for (const { delivery, recipients } of events)
    for (const { webhook_id, format, ordered } of recipients) {
      const webhook = webhooks.get(webhook_id) ?? { event_ids: [], format, ordered }
      webhook.event_ids.push(delivery.event_id)
      webhooks.set(webhook_id, webhook)
    }
  // None of the events is older than the work: retention keeps what is newer.
  const { context } = events.reduce((a, b) => (b.context.now < a.context.now ? b : a))
  const all = [...webhooks].flatMap(([subject, { event_ids, format, ordered }]) =>
    slicesOf(event_ids).map(
      (ids) =>
        ({ kind, subject, position: { event_ids: ids, format }, lease_ms: ordered ? first_ms : 0 }) as const,
    ),
  )
  addWork(tx, context, ...all)
}

const slicesOf = (ids: readonly string[]): string[][] =>
  Array.from({ length: Math.ceil(ids.length / slice) }, (_, n) => ids.slice(n * slice, (n + 1) * slice))

type Webhook = { workspace_id: number; webhook_id: string }

const ofWebhook = prepare((p: Webhook, db) =>
  db
    .selectFrom('work')
    .select('id')
    .where('workspace_id', '=', p.workspace_id)
    .where('kind', '=', kind)
    .where('subject', '=', p.webhook_id)
    .limit(1),
)

/** Whether deliveries of a webhook wait to be inserted. */
export const hasFanout = async (tx: Tx, { workspace_id, webhook_id }: Webhook): Promise<boolean> =>
  (await ofWebhook(tx, { workspace_id, webhook_id })).length > 0

/** The webhooks whose delivery of an event waits to be inserted. */
export async function fanoutOf(db: Db, workspace_id: number, event_id: string): Promise<string[]> {
  const found = await db
    .selectFrom('work')
    .select('subject')
    .where((eb) => eb.and({ workspace_id, kind }))
    .where('position', 'like', `%"${event_id}"%`)
    .execute()
  return found.map(({ subject }) => subject)
}
