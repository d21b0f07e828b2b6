import { type SqlBool, sql } from 'kysely'
import { batch } from '../db/batches.ts'
import { type Db, transaction } from '../db/db.ts'
import type { Tx } from '../db/tx.ts'

/** Whose mails: those to an account or a contact, and those whose text names the contact. */
type Erased = { user_id: string } | { workspace_id: number; contact_id: number }

const whose = (erased: Erased) =>
  'user_id' in erased
    ? sql<SqlBool>`user_id = ${erased.user_id}`
    : sql<SqlBool>`workspace_id = ${erased.workspace_id} AND (contact_id = ${erased.contact_id}
        OR record_kind = 'contacts' AND record_id = ${String(erased.contact_id)})`

/** Removes recipient, subject and text of the mails of somebody. A pending one is cancelled. Idempotent. */
export async function eraseMails(db: Db, erased: Erased, now: string): Promise<void> {
  while ((await transaction(db, (tx) => eraseSome(tx, erased, now))) === batch);
}

async function eraseSome(tx: Tx, erased: Erased, now: string): Promise<number> {
  const rows = await tx
    .selectFrom('mails')
    .select(['workspace_id', 'id', 'status'])
    .where(whose(erased))
    .where('message_id', '<>', '')
    .limit(batch)
    .execute()
  for (const { workspace_id, id, status } of rows) {
    const gone = { recipient: '', recipient_key: '', subject: '', text: '', html: '', message_id: '' }
    const ended = { status: 'cancelled' as const, reason: 'The recipient was erased.', finished_at: now }
    await tx
      .updateTable('mails')
      .set({
        ...gone,
        calendar: null,
        tokens: null,
        tokens_until: null,
        claim_id: null,
        run_at_ms: null,
        ...(status === 'pending' && ended),
      })
      .where((eb) => eb.and({ workspace_id, id }))
      .execute()
    // Servers repeat the address.
    await tx
      .updateTable('mail_attempts')
      .set({ response_text: null, error_message: null })
      .where((eb) => eb.and({ workspace_id, mail_id: id }))
      .execute()
  }
  return rows.length
}
