import { sql } from 'kysely'
import { type Clock, isoTime, momentOf } from '../clock.ts'
import { batch, inBatches } from '../db/batches.ts'
import { type Db, transaction } from '../db/db.ts'
import { rowLock } from '../db/locks.ts'
import { prepareRows } from '../db/statements/recordset.ts'
import type { Tx } from '../db/tx.ts'
import { day_ms, removeOldCauses } from './limits.ts'
import { finish, tellOfServer, useless } from './record.ts'

/**
 * Ends pending mails that are too old, or useless: those that wait for a server that fails, too. Tells of such a server. Its
 * next try may come hours later, so that no attempt can tell in time.
 */
export async function endPending(db: Db, clock: Clock, stopping?: AbortSignal): Promise<void> {
  await transaction(db, (tx) => tellOfServer(tx, momentOf(clock)))
  await inBatches(db, stopping, (tx) => endSome(tx, clock))
  await inBatches(db, stopping, (tx) => forgetTokens(tx, isoTime(clock.now())))
}

async function endSome(tx: Tx, clock: Clock): Promise<number> {
  const moment = momentOf(clock)
  const now = isoTime(moment.now_ms)
  const ended = await tx
    .selectFrom('mails')
    .select(['workspace_id', 'id', 'tokens', 'tokens_until', 'is_single', 'expires_ms'])
    .where('status', '=', sql.lit('pending' as const))
    .where('claim_id', 'is', null)
    .where((eb) => eb.or([eb('expires_ms', '<=', moment.elapsed_ms), eb('useless_at', '<=', now)]))
    .limit(batch)
    .modifyEnd(rowLock(tx, 'FOR UPDATE SKIP LOCKED'))
    .execute()
  for (const mail of ended)
    await finish(
      tx,
      mail,
      Number(mail.expires_ms) <= moment.elapsed_ms
        ? { status: 'failed', reason: 'expired' }
        : { status: 'cancelled', reason: useless },
      moment,
    )
  return ended.length
}

/** Removes the secrets of links that have ended. */
async function forgetTokens(tx: Tx, now: string): Promise<number> {
  const old = await tx
    .selectFrom('mails')
    .select(['workspace_id', 'id'])
    .where('tokens_until', '<=', now)
    .where('status', '<>', sql.lit('pending' as const))
    .limit(batch)
    .execute()
  for (const key of old)
    await tx
      .updateTable('mails')
      .set({ tokens: null, tokens_until: null })
      .where((eb) => eb.and(key))
      .execute()
  return old.length
}

const columns = { workspace_id: 'bigint!', id: 'text!' } as const
const removal = (table: string, id: string) =>
  prepareRows(
    columns,
    ({ row, rows }) => sql`DELETE FROM ${sql.table(table)} AS t ${rows('USING')}
      WHERE t.workspace_id = ${row.workspace_id} AND t.${sql.ref(id)} = ${row.id}`,
  )
const removeAttempts = removal('mail_attempts', 'mail_id')
const removeMails = removal('mails', 'id')

/** Removes mails that were finished more than `days` ago, and what no limit counts any longer. */
export async function removeOldMails(
  db: Db,
  clock: Clock,
  days: number,
  stopping?: AbortSignal,
): Promise<void> {
  const before = isoTime(clock.now() - days * day_ms)
  await inBatches(db, stopping, async (tx) => {
    const old = await tx
      .selectFrom('mails')
      .select(['workspace_id', 'id'])
      .where('finished_at', '<', before)
      .orderBy('finished_at')
      .limit(batch)
      .modifyEnd(rowLock(tx, 'FOR UPDATE SKIP LOCKED'))
      .execute()
    await removeAttempts(tx, old, {})
    await removeMails(tx, old, {})
    return old.length
  })
  await inBatches(db, stopping, (tx) => removeOldCauses(tx, clock.elapsed(), batch))
}
