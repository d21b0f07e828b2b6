import { type Clock, isoTime } from '../clock.ts'
import type { Db, Tx } from '../db/db.ts'
import { lockInstallation } from '../db/locks.ts'
import { recordChange } from '../events/audit.ts'
import { type Actor, type Context, contextOf } from '../events/context.ts'

type Options = { currency?: string | undefined; request_id?: string | null }

/** Creates a workspace and returns its id. */
export async function insertWorkspace(
  tx: Tx,
  clock: Clock,
  actor: Actor,
  name: string,
  { currency, request_id = null }: Options = {},
): Promise<number> {
  const fields = { name, ...(currency !== undefined && { currency }) }
  const { id } = await tx
    .insertInto('workspaces')
    .values({ ...fields, created_at: isoTime(clock.now()) })
    .returning('id')
    .executeTakeFirstOrThrow()
  recordChange(tx, contextOf(clock, { workspace_id: id, actor, request_id }), {
    action: 'created',
    kind: 'workspaces',
    record_id: id,
    after: fields,
  })
  return id
}

/** Creates the first workspace of an installation and returns its id. Null if there is a workspace. */
export async function firstWorkspace(tx: Tx, clock: Clock, actor: Actor): Promise<number | null> {
  await lockInstallation(tx)
  const before = await tx.selectFrom('workspaces').select('id').limit(1).executeTakeFirst()
  return before ? null : insertWorkspace(tx, clock, actor, 'My workspace')
}

/** All workspaces, oldest first. */
export const listWorkspaces = (db: Db) => db.selectFrom('workspaces').selectAll().orderBy('id').execute()

/** A workspace as the API shows it. */
export const findWorkspace = (db: Db, id: number) =>
  db
    .selectFrom('workspaces')
    .select(['id', 'name', 'currency', 'created_at'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow()

/** Changes the context's workspace. The audit log gets the fields that have a new value. */
export async function changeWorkspace(
  tx: Tx,
  context: Context,
  sent: { name?: string | undefined; currency?: string | undefined },
): Promise<void> {
  const { workspace_id } = context
  const before = await findWorkspace(tx, workspace_id)
  const fields = (['name', 'currency'] as const).filter(
    (field) => sent[field] !== undefined && sent[field] !== before[field],
  )
  if (!fields.length) return
  const sideOf = (from: typeof sent) => Object.fromEntries(fields.map((field) => [field, from[field]]))
  await tx.updateTable('workspaces').set(sideOf(sent)).where('id', '=', workspace_id).execute()
  recordChange(tx, context, {
    action: 'updated',
    kind: 'workspaces',
    record_id: workspace_id,
    before: sideOf(before),
    after: sideOf(sent),
  })
}
