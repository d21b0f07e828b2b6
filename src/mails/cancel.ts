import { sql } from 'kysely'
import type { Tx } from '../db/tx.ts'
import type { Context } from '../events/context.ts'

/** Cancels the pending mails about a record. An attempt in flight ends; the mail is then not tried again. */
export async function cancelMails(
  tx: Tx,
  { workspace_id, now }: Pick<Context, 'workspace_id' | 'now'>,
  record: { kind: string; id: number | string },
  reason: string,
): Promise<void> {
  const pending = () =>
    tx
      .updateTable('mails')
      .where((eb) => eb.and({ workspace_id, record_kind: record.kind, record_id: String(record.id) }))
      .where('status', '=', sql.lit('pending' as const))
  await pending().where('claim_id', 'is not', null).set({ useless_at: now }).execute()
  await pending()
    .where('claim_id', 'is', null)
    .set({ status: 'cancelled', reason, run_at_ms: null, tokens: null, tokens_until: null, finished_at: now })
    .execute()
}
