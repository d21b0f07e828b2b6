import { type SqlBool, sql } from 'kysely'
import { batch } from '../db/batches.ts'
import { type Db, transaction } from '../db/db.ts'
import { createPace } from '../db/pace.ts'
import type { Tx } from '../db/tx.ts'
import type { MailKind } from './kinds.ts'

/** Whose mails: those to an account or a contact, and those about the contact. Or single mails. */
type Erased =
  | { user_id: string }
  | { workspace_id: number; contact_id: number }
  | { workspace_id: number; ids: readonly string[] }

function whose(erased: Erased) {
  if ('user_id' in erased) return sql<SqlBool>`user_id = ${erased.user_id}`
  const here = sql`workspace_id = ${erased.workspace_id}`
  if ('ids' in erased) return sql<SqlBool>`${here} AND id IN (${sql.join(erased.ids)})`
  return sql<SqlBool>`${here} AND (contact_id = ${erased.contact_id}
    OR record_kind = 'contacts' AND record_id = ${String(erased.contact_id)})`
}

/** The kinds whose texts have titles of several records, or of settings. */
const kinds_with_titles = ['daily_digest', 'import_ended', 'webhook_failed'] satisfies MailKind[]

/** Removes the same of mails that name an erased record among others. Idempotent. */
export async function eraseMailsNaming(
  db: Db,
  workspace_id: number,
  { names, stopping }: { names: (text: string) => boolean; stopping: AbortSignal | undefined },
  now: string,
): Promise<void> {
  const pace = createPace()
  for (let last: string | undefined = ''; last !== undefined; ) {
    stopping?.throwIfAborted()
    // Few of a long log may be of these kinds: a statement that looked for 200 of them would read all of it.
    const text = sql<string | null>`CASE WHEN kind IN (${sql.join(kinds_with_titles)}) THEN text END`
    const mails: { id: string; text: string | null }[] = await db
      .selectFrom('mails')
      .select(['id', text.as('text')])
      .where('workspace_id', '=', workspace_id)
      .where('id', '>', last)
      .orderBy('id')
      .limit(batch)
      .execute()
    const ids: string[] = []
    for (const { id, text } of mails) {
      if (text === null) continue
      if (names(text)) ids.push(id)
      await pace()
    }
    await pace()
    if (ids.length) await eraseMails(db, { workspace_id, ids }, now)
    last = mails.at(-1)?.id
  }
}

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
    const ended = {
      status: 'cancelled' as const,
      reason: 'A person of this mail was erased.',
      finished_at: now,
    }
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
