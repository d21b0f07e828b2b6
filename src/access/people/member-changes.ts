import type { Static } from 'typebox'
import type { Tx } from '../../db/db.ts'
import { lockEntry } from '../../db/locks.ts'
import { conflict, forbidden, orNotFound, refuse } from '../../errors.ts'
import { recordChange } from '../../events/audit.ts'
import type { Context } from '../../events/context.ts'
import type { Access } from '../../http/auth.ts'
import type { Incoming } from '../../http/endpoints.ts'
import { cancelMails } from '../../mails/cancel.ts'
import { revokeKeysOf } from '../keys/queries.ts'
import { removeBelongings } from './belongings.ts'
import { markWithoutWorkspace } from './deletion.ts'
import { revokeInvitationsBy } from './invitations.ts'
import { findMember, grantorOf, isLastOwner } from './members.ts'
import { type Grantor, mayGrant, type Role, type RoleScopes } from './roles.ts'
import type { Member, MemberBody, MemberParams, RemovalQuery } from './schema.ts'
import { endSessions } from './sessions.ts'

type OfMember<Body = unknown> = Incoming<Static<typeof MemberParams>, Body>

/** The member whom a request names, and who asks. Throws 412 if If-Match does not fit. The workspace is locked. */
async function memberToChange(tx: Tx, context: Context, role_scopes: RoleScopes, sent: OfMember) {
  const access = await sent.recheck()
  const member = orNotFound('member', await findMember(tx, context.workspace_id, sent.params.user_id))
  sent.expect(member)
  return { access, grantor: grantorOf(role_scopes, access), member }
}

/**
 * Gives a member another role. Throws 403 if the old or the new role may do more than the caller's. Throws 409 for the
 * last owner.
 */
export async function changeMember(
  tx: Tx,
  context: Context,
  role_scopes: RoleScopes,
  sent: OfMember<Static<typeof MemberBody>>,
): Promise<Member> {
  const { workspace_id } = context
  // Two owners who step down at the same time: the second one is the last owner, and is refused.
  await lockEntry(tx, 'workspaces', workspace_id)
  const { access, grantor, member } = await memberToChange(tx, context, role_scopes, sent)
  refuse(sent.problems)
  const { role = member.role, revoke_keys } = sent.body
  if (revoke_keys) await revokeKeys(tx, context, access, member)
  if (role === member.role) return member
  refuseBeyondRole(grantor, member.role)
  refuseBeyondRole(grantor, role)
  await refuseLastOwner(tx, workspace_id, member)
  await tx
    .updateTable('memberships')
    .set({ role })
    .where((eb) => eb.and({ workspace_id, user_id: member.id }))
    .execute()
  await revokeInvitationsBy(tx, context, member.id, role)
  recordChange(tx, context, {
    action: 'updated',
    kind: 'members',
    record_id: member.id,
    before: { role: member.role },
    after: { role },
  })
  return { ...member, role }
}

/**
 * Removes a member, ends the member's sessions in the workspace, cancels mails that wait, and revokes the member's
 * invitations. Throws as `changeMember` does.
 */
export async function removeMember(
  tx: Tx,
  context: Context,
  role_scopes: RoleScopes,
  sent: OfMember,
): Promise<void> {
  const { workspace_id } = context
  await lockEntry(tx, 'workspaces', workspace_id)
  // A concurrent sign-in either committed before, and its session ends here, or waits and finds no membership.
  await lockEntry(tx, 'users', sent.params.user_id)
  const { access, grantor, member } = await memberToChange(tx, context, role_scopes, sent)
  const { revoke_keys } = sent.request.query as Static<typeof RemovalQuery>
  const { id, name, email, role } = member
  refuseBeyondRole(grantor, role)
  await refuseLastOwner(tx, workspace_id, member)
  await tx
    .deleteFrom('memberships')
    .where((eb) => eb.and({ workspace_id, user_id: id }))
    .execute()
  await removeBelongings(tx, workspace_id, id)
  await cancelMails(tx, context, { user_id: id }, 'The member was removed.')
  await markWithoutWorkspace(tx, context.now, id)
  await endSessions(tx, id, { workspace_id })
  if (revoke_keys === 'true') await revokeKeys(tx, context, access, member)
  await revokeInvitationsBy(tx, context, id, null)
  recordChange(tx, context, {
    action: 'deleted',
    kind: 'members',
    record_id: id,
    before: { name, email, role },
  })
}

async function revokeKeys(tx: Tx, context: Context, { scopes }: Access, { id }: Member): Promise<void> {
  if (scopes && !scopes.includes('keys:write')) throw forbidden('Revoking keys needs the scope keys:write.')
  await revokeKeysOf(tx, context, id, scopes)
}

function refuseBeyondRole(grantor: Grantor, role: Role): void {
  if (!mayGrant(grantor, role))
    throw forbidden(
      `You may not give or take the role ${role}: it may do more than you. Ask somebody who has it.`,
    )
}

async function refuseLastOwner(tx: Tx, workspace_id: number, member: Member): Promise<void> {
  if (await isLastOwner(tx, workspace_id, member))
    throw conflict('last_owner', 'A workspace keeps at least one owner. Make somebody else an owner first.')
}
