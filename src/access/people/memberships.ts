import type { Db, Tx } from '../../db/db.ts'
import { countRows } from '../../db/lists/counts.ts'
import { forbidden } from '../../errors.ts'
import { type AuditedChange, recordChange } from '../../events/audit.ts'
import type { Context } from '../../events/context.ts'
import type { Role } from './roles.ts'
import { type User, usersByEmailOrId } from './users.ts'

/** The role of a person in a workspace. Null if the person is not a member. */
export async function roleOf(db: Db, workspace_id: number, user_id: string): Promise<Role | null> {
  const row = await db
    .selectFrom('memberships')
    .select('role')
    .where((eb) => eb.and({ workspace_id, user_id }))
    .executeTakeFirst()
  return (row?.role as Role | undefined) ?? null
}

/** The number of workspaces that a person owns. */
export const countOwned = (db: Db, user_id: string): Promise<number> =>
  countRows(db.selectFrom('memberships').where((eb) => eb.and({ user_id, role: 'owner' })))

/** The workspaces of a person, with the role and the time of the last entry, oldest workspace first. */
export async function workspacesOf(db: Db, user_id: string) {
  const rows = await db
    .selectFrom('memberships as m')
    .innerJoin('workspaces as w', 'w.id', 'm.workspace_id')
    .select(['w.id', 'w.name', 'w.currency', 'm.role', 'm.entered_at'])
    .where('m.user_id', '=', user_id)
    .orderBy('w.id')
    .execute()
  return rows.map((row) => ({ ...row, role: row.role as Role }))
}

/** The account with an e-mail or an id, or null. If several have the e-mail, throws an error that lists their ids. */
export async function accountByEmailOrId(db: Db, email_or_id: string): Promise<User | null> {
  const users = await usersByEmailOrId(db, email_or_id)
  if (users.length < 2) return users[0] ?? null
  const choices: string[] = []
  for (const { id, name } of users) {
    const workspaces = (await workspacesOf(db, id)).map((workspace) => workspace.name)
    choices.push(`${id} (${name}, in ${workspaces.join(', ') || 'no workspace'})`)
  }
  throw new Error(
    `Several accounts have the e-mail ${email_or_id}. Name one by its id: ${choices.join('; ')}.`,
  )
}

/** The workspace that the person entered last, which a sign-in opens. Throws 403 if the person is in none. */
export async function lastWorkspace(db: Db, user_id: string): Promise<number> {
  const all = await workspacesOf(db, user_id)
  const [last] = all.sort((a, b) => b.entered_at.localeCompare(a.entered_at))
  if (!last) throw forbidden('You are not a member of a workspace. Ask for an invitation.')
  return last.id
}

/** Records that a person has entered the context's workspace. */
export const markEntered = (tx: Tx, { workspace_id, now: entered_at }: Context, user_id: string) =>
  tx
    .updateTable('memberships')
    .set({ entered_at })
    .where((eb) => eb.and({ workspace_id, user_id }))
    .execute()

/** Writes a change of an account to the audit log of each workspace of the person. */
export async function auditPerson(
  tx: Tx,
  context: Omit<Context, 'workspace_id'>,
  user_id: string,
  change: Pick<AuditedChange, 'action' | 'before' | 'after'>,
): Promise<void> {
  for (const { id: workspace_id } of await workspacesOf(tx, user_id))
    recordChange(tx, { ...context, workspace_id }, { ...change, kind: 'users', record_id: user_id })
}

/** Makes a person a member of the context's workspace. */
export async function insertMember(tx: Tx, context: Context, user_id: string, role: Role): Promise<void> {
  const { workspace_id, now } = context
  await tx
    .insertInto('memberships')
    .values({ workspace_id, user_id, role, created_at: now, entered_at: now })
    .execute()
  await tx.updateTable('users').set({ left_at: null }).where('id', '=', user_id).execute()
  recordChange(tx, context, {
    action: 'created',
    kind: 'members',
    record_id: user_id,
    after: { role },
  })
}
