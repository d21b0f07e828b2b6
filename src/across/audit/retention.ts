import { sql } from 'kysely'
import { type Clock, isoTime } from '../../clock.ts'
import { type Db, transaction } from '../../db/db.ts'
import { prepareRows } from '../../db/statements/recordset.ts'

const day_ms = 24 * 3600 * 1000
// Small enough that no request waits noticeably for its transaction.
const batch = 200

/** For how many days entries are kept (null: for ever), and the address and the browser of a sign-in. */
export type Kept = { audit_log_days: number | null; sign_in_address_days: number }

/**
 * Takes the address and the browser out of old sign-ins, and removes old entries. May be stopped between two batches.
 */
export async function cleanLog(
  db: Db,
  clock: Clock,
  { audit_log_days, sign_in_address_days }: Kept,
  stopping?: AbortSignal,
): Promise<void> {
  const ago = (days: number) => isoTime(clock.now() - days * day_ms)
  const inOne = (work: (tx: Db) => Promise<number>): Promise<number> => {
    stopping?.throwIfAborted()
    return transaction(db, work)
  }
  const unknown_from = ago(sign_in_address_days)
  while ((await inOne((tx) => forgetDevices(tx, unknown_from))) === batch);
  if (audit_log_days === null) return
  const before = ago(audit_log_days)
  for await (const workspace_id of withOldEntries(db, before))
    while ((await inOne((tx) => removeEntries(tx, workspace_id, before))) === batch);
}

const entry_columns = { workspace_id: 'bigint!', id: 'bigint!' } as const
const forget = prepareRows(entry_columns, (db, { row, rows }) => ({
  compile: () =>
    sql`UPDATE audit_log AS t SET after = NULL ${rows('FROM')}
      WHERE t.workspace_id = ${row.workspace_id} AND t.id = ${row.id}`.compile(db),
}))
const remove = prepareRows(entry_columns, (db, { row, rows }) => ({
  compile: () =>
    sql`DELETE FROM audit_log AS t ${rows('USING')}
      WHERE t.workspace_id = ${row.workspace_id} AND t.id = ${row.id}`.compile(db),
}))

// The index audit_log_sign_ins holds those that still tell something.
async function forgetDevices(tx: Db, before: string): Promise<number> {
  const old = await tx
    .selectFrom('audit_log')
    .select(['workspace_id', 'id'])
    .where(sql<boolean>`action = 'signed_in'`)
    .where('after', 'is not', null)
    .where('occurred_at', '<', before)
    .orderBy('occurred_at')
    .limit(batch)
    .execute()
  await forget(tx, old, {})
  return old.length
}

async function removeEntries(tx: Db, workspace_id: number, before: string): Promise<number> {
  const old = await tx
    .selectFrom('audit_log')
    .select(['workspace_id', 'id'])
    .where('workspace_id', '=', workspace_id)
    .where('occurred_at', '<', before)
    .orderBy('occurred_at')
    .limit(batch)
    .execute()
  await remove(tx, old, {})
  return old.length
}

/** The workspaces that have entries of before a time, by pages, so that no read grows with their number. */
async function* withOldEntries(db: Db, before: string): AsyncGenerator<number> {
  let last = 0
  for (;;) {
    const page = await db
      .selectFrom('workspaces as w')
      .select('w.id')
      .select((eb) =>
        eb
          .exists(
            eb
              .selectFrom('audit_log as a')
              .select('a.id')
              .whereRef('a.workspace_id', '=', 'w.id')
              .where('a.occurred_at', '<', before),
          )
          .as('old'),
      )
      .where('w.id', '>', last)
      .orderBy('w.id')
      .limit(batch)
      .execute()
    for (const { id, old } of page) if (old) yield id
    const end = page.at(-1)
    if (!end) return
    last = end.id
  }
}
