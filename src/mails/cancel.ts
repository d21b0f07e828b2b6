import { sql } from 'kysely'
import type { Tx } from '../db/tx.ts'
import type { Context } from '../events/context.ts'
import type { Claim } from './claim.ts'
import { booking_kinds, type MailKind } from './kinds.ts'

/** The mails of a member's account, which may belong to several workspaces. */
const kinds_of_account = ['password_reset', 'new_sign_in'] satisfies MailKind[]

/**
 * Cancels the pending mails about a record, or those of one kind; or those of a workspace to a member. An attempt in flight
 * ends; the mail is then not tried again.
 */
export async function cancelMails(
  tx: Tx,
  { workspace_id, now }: Pick<Context, 'workspace_id' | 'now'>,
  of: { kind: string; id: number | string } | { user_id: string },
  reason: string,
  kind?: MailKind,
): Promise<void> {
  const pending = () => {
    const mails = tx
      .updateTable('mails')
      .where('workspace_id', '=', workspace_id)
      .where('status', '=', sql.lit('pending' as const))
    if ('user_id' in of)
      return mails.where('user_id', '=', of.user_id).where('kind', 'not in', kinds_of_account)
    return mails
      .where((eb) => eb.and({ record_kind: of.kind, record_id: String(of.id) }))
      .$if(kind !== undefined, (query) => query.where('kind', '=', kind as MailKind))
  }
  await pending().where('claim_id', 'is not', null).set({ useless_at: now }).execute()
  await pending().where('claim_id', 'is', null).set(cancelled(reason, now)).execute()
}

const cancelled = (reason: string, now: string) => ({
  status: 'cancelled' as const,
  reason,
  run_at_ms: null,
  tokens: null,
  tokens_until: null,
  finished_at: now,
})

/**
 * Cancels the mails of earlier changes of a booking, which wait for a retry while a later one was sent. The last mail that
 * arrives must say how the booking is.
 */
export async function cancelOvertaken(tx: Tx, sent: Claim, now: string): Promise<void> {
  const { workspace_id, record_kind, record_id, recipient_key } = sent
  if (!booking_kinds.includes(sent.kind)) return
  await tx
    .updateTable('mails')
    .where('status', '=', sql.lit('pending' as const))
    .where((eb) => eb.and({ workspace_id, record_kind, record_id, recipient_key }))
    .where('kind', 'in', booking_kinds)
    .where('id', '<', sent.id)
    .where('claim_id', 'is', null)
    .set(cancelled('A later mail of this booking was sent before it.', now))
    .execute()
}
