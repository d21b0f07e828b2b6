import { sql } from 'kysely'
import { type Clock, day_ms, isoTime } from '../../clock.ts'
import { batch, inBatches } from '../../db/batches.ts'
import type { Db, Tx } from '../../db/db.ts'
import { prepareRows } from '../../db/statements/recordset.ts'

/** The days for which entries (null: forever), and addresses and browsers of sign-ins, are kept. */
export type Kept = { audit_log_days: number | null; sign_in_address_days: number }

/** Removes the address and the browser of old sign-ins, and old entries. May be stopped between two batches. */
export async function cleanLog(
  db: Db,
  clock: Clock,
  { audit_log_days, sign_in_address_days }: Kept,
  stopping?: AbortSignal,
): Promise<void> {
  const ago = (days: number) => isoTime(clock.now() - days * day_ms)
  const unknown_from = ago(sign_in_address_days)
  await inBatches(db, stopping, (tx) => forgetDevices(tx, unknown_from))
  if (audit_log_days === null) return
  const before = ago(audit_log_days)
  for (const { id } of await db.selectFrom('workspaces').select('id').orderBy('id').execute())
    await inBatches(db, stopping, (tx) => removeEntries(tx, id, before))
}

const entry_columns = { workspace_id: 'bigint!', id: 'bigint!' } as const
const forget = prepareRows(
  entry_columns,
  ({ row, rows }) => sql`UPDATE audit_log AS t SET after = NULL ${rows('FROM')}
      WHERE t.workspace_id = ${row.workspace_id} AND t.id = ${row.id}`,
)
const remove = prepareRows(
  entry_columns,
  ({ row, rows }) => sql`DELETE FROM audit_log AS t ${rows('USING')}
      WHERE t.workspace_id = ${row.workspace_id} AND t.id = ${row.id}`,
)

const oldest = (tx: Tx, before: string) =>
  tx
    .selectFrom('audit_log')
    .select(['workspace_id', 'id', 'change_group'])
    .where('occurred_at', '<', before)
    .orderBy('occurred_at')
    .limit(batch)

// The index audit_log_sign_ins has the sign-ins that still have an address.
async function forgetDevices(tx: Tx, before: string): Promise<number> {
  const signed_in = oldest(tx, before).where(sql<boolean>`action = 'signed_in'`)
  const old = await signed_in.where('after', 'is not', null).execute()
  await forget(tx, old, {})
  return old.length
}

/**
 * Removes a batch of entries. First, their groups end: a revert needs all of a group, or it would put back values that the
 * group itself has set.
 */
async function removeEntries(tx: Tx, workspace_id: number, before: string): Promise<number> {
  const old = await oldest(tx, before).where('workspace_id', '=', workspace_id).execute()
  const groups = new Set(old.flatMap(({ change_group }) => change_group ?? []))
  let ended = 0
  for (const group of groups)
    if (ended < batch) ended += await endGroup(tx, workspace_id, group, batch - ended)
  if (groups.size) return ended
  await remove(tx, old, {})
  return old.length
}

/** Takes entries out of a group, the youngest first. So a group that is not ended yet is found again by its oldest entry. */
async function endGroup(tx: Tx, workspace_id: number, group: string, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`UPDATE audit_log SET change_group = NULL
    WHERE workspace_id = ${workspace_id} AND id IN (SELECT id FROM audit_log
      WHERE workspace_id = ${workspace_id} AND change_group = ${group} ORDER BY id DESC LIMIT ${limit})`.execute(
    tx,
  )
  return Number(numAffectedRows)
}
