import type { Db } from '../db/db.ts'
import { recordChange } from '../events/audit.ts'
import type { Context } from '../events/context.ts'
import type { Role } from './roles.ts'

/** The role of a person in a workspace; null for one who is no member. */
export async function roleOf(db: Db, workspace_id: number, user_id: string): Promise<Role | null> {
  const row = await db
    .selectFrom('memberships')
    .select('role')
    .where('workspace_id', '=', workspace_id)
    .where('user_id', '=', user_id)
    .executeTakeFirst()
  return (row?.role as Role | undefined) ?? null
}

/** The workspaces of a person with the role in each, oldest workspace first. */
export async function workspacesOf(db: Db, user_id: string) {
  const rows = await db
    .selectFrom('memberships as m')
    .innerJoin('workspaces as w', 'w.id', 'm.workspace_id')
    .select(['w.id', 'w.name', 'w.currency', 'm.role'])
    .where('m.user_id', '=', user_id)
    .orderBy('w.id')
    .execute()
  return rows.map((row) => ({ ...row, role: row.role as Role }))
}

/** Makes a person a member of the context's workspace. */
export async function insertMember(tx: Db, context: Context, user_id: string, role: Role): Promise<void> {
  const { workspace_id, now } = context
  await tx.insertInto('memberships').values({ workspace_id, user_id, role, created_at: now }).execute()
  await recordChange(tx, context, {
    ...{ action: 'created', kind: 'members', record_id: user_id },
    after: { role },
  })
}
