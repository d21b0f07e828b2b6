import { type Db, type Tx, transaction } from '../../db/db.ts'
import { lockEntry } from '../../db/locks.ts'
import { conflict, invalid } from '../../errors.ts'
import { recordChange } from '../../events/audit.ts'
import type { Context } from '../../events/context.ts'
import { eraseMails } from '../../mails/erase.ts'
import { removeBelongings } from './belongings.ts'
import { revokeInvitationsBy } from './invitations.ts'
import { isLastOwner } from './members.ts'
import { workspacesOf } from './memberships.ts'
import { wrongPassword } from './own-password.ts'
import { closed_prefix, redactPerson } from './traces.ts'
import { hasPassword } from './users.ts'

/** How long an account without a workspace stays. A person who was removed by mistake can be invited again until then. */
export const account_retention_days = 30

/** The columns of a closed account. No password has an empty hash, and the cleaning removes the account at once. */
const closed = {
  name: '',
  email: '',
  password_hash: '',
  time_zone: null,
  language: null,
  reset_hash: null,
  reset_expires_at: null,
  mail_preferences: null,
  left_at: '1970-01-01T00:00:00.000Z',
}

/** The names of the workspaces that would have no owner without this person. */
export async function ownedAlone(db: Db, user_id: string): Promise<string[]> {
  const names: string[] = []
  for (const { id, name, role } of await workspacesOf(db, user_id))
    if (await isLastOwner(db, id, { id: user_id, role })) names.push(name)
  return names
}

/** Locks an account with its workspaces, in the same order as every change of members. */
export async function lockAccount(tx: Tx, user_id: string): Promise<void> {
  for (const { id } of await workspacesOf(tx, user_id)) await lockEntry(tx, 'workspaces', id)
  await lockEntry(tx, 'users', user_id)
}

/**
 * Closes the account of a person who asks for it. `proof` is the hash of the password that was checked. Throws 422 if the
 * password has changed, and 409 for the only owner of a workspace.
 */
export async function closeOwnAccount(
  tx: Tx,
  context: Context,
  { user_id, proof }: { user_id: string; proof: string },
  recheck: () => Promise<unknown>,
): Promise<void> {
  await lockAccount(tx, user_id)
  await recheck()
  if (!(await hasPassword(tx, user_id, proof))) throw invalid([wrongPassword])
  const names = await ownedAlone(tx, user_id)
  if (names.length)
    throw conflict(
      'only_owner',
      `You are the only owner of ${names.join(', ')}. Make somebody else an owner first.`,
      { workspaces: names.join(', ') },
    )
  await closeAccount(tx, context, user_id)
}

/**
 * Closes an account for good: deletes its sessions and memberships, and revokes its invitations. Its keys and records stay.
 * The account is locked. Call `removeClosed` after the commit; after a crash between the two, the cleaning calls it.
 */
export async function closeAccount(
  tx: Tx,
  context: Omit<Context, 'workspace_id'>,
  user_id: string,
): Promise<void> {
  for (const { id: workspace_id, role } of await workspacesOf(tx, user_id)) {
    await removeBelongings(tx, workspace_id, user_id)
    const target = { ...context, workspace_id }
    await revokeInvitationsBy(tx, target, user_id, null)
    const change = { action: 'deleted', record_id: user_id }
    recordChange(tx, target, { ...change, kind: 'members', before: { role } })
    recordChange(tx, target, { ...change, kind: 'users' })
  }
  for (const table of ['memberships', 'sessions', 'reset_links'] as const)
    await tx.deleteFrom(table).where('user_id', '=', user_id).execute()
  const user = await tx.selectFrom('users').select('email_key').where('id', '=', user_id).executeTakeFirst()
  if (!user) return
  // After a crash, the cleaning closes the account again.
  const email_key = user.email_key.startsWith(closed_prefix) ? user.email_key : closed_prefix + user.email_key
  await tx
    .updateTable('users')
    .set({ ...closed, email_key })
    .where('id', '=', user_id)
    .execute()
}

/** Erases the person of a closed account, and removes the account. Idempotent. */
export async function removeClosed(db: Db, user_id: string, now: string): Promise<void> {
  await redactPerson(db, user_id, now)
  await eraseMails(db, { user_id }, now)
  await transaction(db, (tx) => tx.deleteFrom('users').where('id', '=', user_id).execute())
}

/** Sets the time from which `account_retention_days` count, if the person is in no workspace. */
export async function markWithoutWorkspace(tx: Tx, now: string, user_id: string): Promise<void> {
  if ((await workspacesOf(tx, user_id)).length) return
  await tx.updateTable('users').set({ left_at: now }).where('id', '=', user_id).execute()
}
