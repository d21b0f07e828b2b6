import { sql } from 'kysely'
import { newId } from './ids.ts'
import { rowLock } from './locks.ts'
import { prepareInsert } from './statements/recordset.ts'
import type { Db, Tx } from './tx.ts'
import type { WorkKind, WorkTable } from './work-table.ts'

// Work that the transaction of a request leaves for later ones. It is a row until it is done, so no crash loses it.
// `work/run.ts` does its steps.

/** The context of the change that leaves the work. */
export type Author = {
  workspace_id: number
  actor: { kind: string; id: string | null }
  request_id: string | null
  now: string
  elapsed(): number
}
export type NewWork = {
  kind: WorkKind
  subject: string
  position?: unknown
  state?: string
  lease_ms?: number
}

const insert = prepareInsert('work', {
  id: 'text!',
  workspace_id: 'bigint!',
  kind: 'text!',
  subject: 'text!',
  state: 'text!',
  position: 'text!',
  actor: 'text!',
  request_id: 'text',
  lease_ends_ms: 'bigint!',
  created_at: 'text!',
})

/** Adds work, which any process may begin after the commit, or after `lease_ms`. */
export function addWork(
  tx: Tx,
  { workspace_id, actor, request_id, now, elapsed }: Author,
  ...all: readonly NewWork[]
): void {
  const rows = all.map(({ kind, subject, position = null, state = 'running', lease_ms = 0 }) => ({
    id: newId('wrk'),
    workspace_id,
    kind,
    subject,
    state,
    position: JSON.stringify(position),
    actor: actor.id ?? actor.kind,
    request_id,
    lease_ends_ms: elapsed() + lease_ms,
    created_at: now,
  }))
  tx.rows(insert, rows)
  if (rows.length) tx.announce('backlog')
}

/** The work of a kind that a subject has, oldest first. */
export async function workOf<P>(db: Db, workspace_id: number, kind: WorkKind, subject: string) {
  const rows = await db
    .selectFrom('work')
    .selectAll()
    .where((eb) => eb.and({ workspace_id, kind, subject }))
    .orderBy('id')
    .execute()
  return rows.map((row) => ({ ...row, position: JSON.parse(row.position) as P }))
}

type Changes = { state?: string; position?: unknown; lease_ends_ms: number | null }

/** Changes work after a step that succeeded. */
export async function changeWork(
  tx: Tx,
  { workspace_id, id }: Pick<WorkTable, 'workspace_id' | 'id'>,
  { position, ...changes }: Changes,
): Promise<void> {
  const stored = position === undefined ? {} : { position: JSON.stringify(position) }
  await tx
    .updateTable('work')
    .set({ ...changes, ...stored, attempts: 0, last_error: null })
    .where((eb) => eb.and({ workspace_id, id }))
    .execute()
}

/** Renews the lease of work that a request does itself; false if it is gone or has another state. */
export async function renewWork(
  tx: Tx,
  { workspace_id, kind, subject }: Pick<WorkTable, 'workspace_id' | 'kind' | 'subject'>,
  lease_ends_ms: number,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('work')
    .set({ lease_ends_ms })
    .where((eb) => eb.and({ workspace_id, kind, subject, state: 'running' }))
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Locks the work of a kind that a subject has. A step of it in another transaction ends first. */
export async function lockWork(tx: Tx, workspace_id: number, kind: WorkKind, subject: string): Promise<void> {
  await sql`SELECT 1 FROM work WHERE workspace_id = ${workspace_id} AND kind = ${kind} AND subject = ${subject}
    ${rowLock(tx, 'FOR UPDATE')}`.execute(tx)
}

/** Removes the work of a kind that a subject has. A step of it in another transaction ends first. */
export async function dropWork(tx: Tx, workspace_id: number, kind: WorkKind, subject: string): Promise<void> {
  await tx
    .deleteFrom('work')
    .where((eb) => eb.and({ workspace_id, kind, subject }))
    .execute()
}

/** Ends all leases: the processes that had them have ended. */
export async function endLeases(tx: Tx, elapsed_ms: number): Promise<void> {
  await tx
    .updateTable('work')
    .set({ lease_ends_ms: elapsed_ms })
    .where('lease_ends_ms', '>', elapsed_ms)
    .execute()
}
