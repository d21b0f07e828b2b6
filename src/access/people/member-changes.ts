import type { Db } from '../../db/db.ts'
import { conflict, forbidden } from '../../errors.ts'
import { recordChange } from '../../events/audit.ts'
import type { Context } from '../../events/context.ts'
import type { Access } from '../../http/auth.ts'
import { revokeKeysOf } from '../keys/queries.ts'
import { markWithoutWorkspace } from './deletion.ts'
import { revokeInvitationsBy } from './invitations.ts'
import { isLastOwner } from './members.ts'
import { type Grantor, mayGrant, type Role } from './roles.ts'
import type { Member } from './schema.ts'
import { endSessions } from './sessions.ts'

/** `access` and `grantor` are those of the person or key that asks. */
type MemberChange = { access: Access; grantor: Grantor; member: Member; revoke_keys?: boolean | undefined }

/**
 * Gives a member another role. Throws 403 if the old or the new role may do more than the caller's, and 409 for the last
 * owner. The workspace is locked.
 */
export async function changeMember(
  tx: Db,
  context: Context,
  { access, grantor, member, role = member.role, revoke_keys }: MemberChange & { role?: Role | undefined },
): Promise<Member> {
  const { workspace_id } = context
  if (revoke_keys) await revokeKeys(tx, context, access, member)
  if (role === member.role) return member
  refuseBeyondRole(grantor, member.role)
  refuseBeyondRole(grantor, role)
  await refuseLastOwner(tx, workspace_id, member)
  await tx
    .updateTable('memberships')
    .set({ role })
    .where('workspace_id', '=', workspace_id)
    .where('user_id', '=', member.id)
    .execute()
  await revokeInvitationsBy(tx, context, member.id, role)
  await recordChange(tx, context, {
    action: 'updated',
    kind: 'members',
    record_id: member.id,
    before: { role: member.role },
    after: { role },
  })
  return { ...member, role }
}

/**
 * Removes a member, ends the member's sessions in the workspace and revokes the member's invitations. Throws as
 * `changeMember` does. The workspace and the person are locked.
 */
export async function removeMember(
  tx: Db,
  context: Context,
  { access, grantor, member, revoke_keys }: MemberChange,
): Promise<void> {
  const { workspace_id } = context
  const { id, name, email, role } = member
  refuseBeyondRole(grantor, role)
  await refuseLastOwner(tx, workspace_id, member)
  await tx
    .deleteFrom('memberships')
    .where('workspace_id', '=', workspace_id)
    .where('user_id', '=', id)
    .execute()
  await markWithoutWorkspace(tx, context.now, id)
  await endSessions(tx, id, { workspace_id })
  if (revoke_keys) await revokeKeys(tx, context, access, member)
  await revokeInvitationsBy(tx, context, id, null)
  await recordChange(tx, context, {
    action: 'deleted',
    kind: 'members',
    record_id: id,
    before: { name, email, role },
  })
}

async function revokeKeys(tx: Db, context: Context, { scopes }: Access, { id }: Member): Promise<void> {
  if (scopes && !scopes.includes('keys:write')) throw forbidden('To revoke keys needs keys:write.')
  await revokeKeysOf(tx, context, id, scopes)
}

function refuseBeyondRole(grantor: Grantor, role: Role): void {
  if (!mayGrant(grantor, role))
    throw forbidden(
      `You may not give or take the role ${role}: it may do more than you. Ask somebody who has it.`,
    )
}

async function refuseLastOwner(tx: Db, workspace_id: number, member: Member): Promise<void> {
  if (await isLastOwner(tx, workspace_id, member))
    throw conflict('A workspace keeps at least one owner: make somebody else an owner first.')
}
