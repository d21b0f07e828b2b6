import { type Clock, isoTime } from '../clock.ts'
import type { Db } from '../db/db.ts'
import { newId } from '../db/ids.ts'
import { recordChange } from '../events/audit.ts'
import type { Context } from '../events/context.ts'
import { mayGive, type Role } from './roles.ts'
import type { Invitation } from './schema.ts'
import { newToken } from './tokens.ts'

const valid_ms = 7 * 24 * 3600 * 1000
const columns = ['id', 'email', 'role', 'created_at', 'expires_at'] as const
const shown = (row: Omit<Invitation, 'role'> & { role: string }): Invitation => ({
  ...row,
  role: row.role as Role,
})

/** Invitations of a workspace that can still be accepted. */
export const openInvitations = (db: Db, workspace_id: number, now: string) =>
  db
    .selectFrom('invitations')
    .where('workspace_id', '=', workspace_id)
    .where('accepted_at', 'is', null)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', now)

/** One page of them, the newest first, and how many there are. */
export async function listInvitations(
  db: Db,
  workspace_id: number,
  now: string,
  { per_page, offset }: { per_page: number; offset: number },
) {
  const open = openInvitations(db, workspace_id, now)
  const rows = await open.select(columns).orderBy('id', 'desc').limit(per_page).offset(offset).execute()
  const { n } = await open.select((eb) => eb.fn.countAll<number>().as('n')).executeTakeFirstOrThrow()
  return { invitations: rows.map(shown), total: Number(n) }
}

export async function findInvitation(
  db: Db,
  workspace_id: number,
  now: string,
  id: string,
): Promise<Invitation | null> {
  const row = await openInvitations(db, workspace_id, now)
    .select(columns)
    .where('id', '=', id)
    .executeTakeFirst()
  return row ? shown(row) : null
}

/** Invites somebody to the context's workspace, in place of earlier invitations. The token is stored nowhere. */
export async function insertInvitation(
  tx: Db,
  context: Context,
  { email, role }: { email: string; role: Role },
): Promise<{ invitation: Invitation; token: string }> {
  const { workspace_id, actor, now, now_ms } = context
  const id = newId('inv')
  const { token, hash } = newToken()
  const invitation = { id, email, role, created_at: now, expires_at: isoTime(now_ms + valid_ms) }
  await tx
    .insertInto('invitations')
    .values({
      ...{ ...invitation, workspace_id, hash, invited_by: actor.id ?? actor.kind },
      ...{ accepted_at: null, revoked_at: null },
    })
    .execute()
  await recordChange(tx, context, {
    ...{ action: 'created', kind: 'invitations', record_id: id },
    after: { email, role },
  })
  return { invitation, token }
}

/** Takes an invitation back. */
export async function revokeInvitation(
  tx: Db,
  context: Context,
  { id, email, role }: Invitation,
): Promise<void> {
  await tx.updateTable('invitations').set({ revoked_at: context.now }).where('id', '=', id).execute()
  await recordChange(tx, context, {
    ...{ action: 'revoked', kind: 'invitations', record_id: id },
    before: { email, role },
  })
}

/** Takes back what somebody has offered and could not offer now, by the new role; null: is no member any more. */
export async function revokeInvitationsBy(
  tx: Db,
  context: Context,
  user_id: string,
  role: Role | null,
): Promise<void> {
  const rows = await openInvitations(tx, context.workspace_id, context.now)
    .select(columns)
    .where('invited_by', '=', user_id)
    .execute()
  const may = role === 'owner' || role === 'admin'
  for (const invitation of rows.map(shown))
    if (!may || !mayGive({ role }, invitation.role)) await revokeInvitation(tx, context, invitation)
}

/** An invitation that can still be accepted, by the hash of its token, with its workspace's name. */
export async function invitationByHash(db: Db, clock: Clock, hash: string) {
  const row = await db
    .selectFrom('invitations as i')
    .innerJoin('workspaces as w', 'w.id', 'i.workspace_id')
    .select(['i.id', 'i.workspace_id', 'i.email', 'i.role', 'w.name as workspace_name'])
    .where('i.hash', '=', hash)
    .where('i.accepted_at', 'is', null)
    .where('i.revoked_at', 'is', null)
    .where('i.expires_at', '>', isoTime(clock.now()))
    .executeTakeFirst()
  return row && { ...row, role: row.role as Role }
}
