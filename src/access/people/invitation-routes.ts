import { isoTime } from '../../clock.ts'
import type { Db } from '../../db/db.ts'
import { lockEntry } from '../../db/locks.ts'
import { forbidden, invalid, orNotFound } from '../../errors.ts'
import { Deleted, deleted, List, list, paging, Single } from '../../http/envelope.ts'
import { checkMatch, sendRecord } from '../../http/etag.ts'
import { ListQuery } from '../../http/fields.ts'
import { operation } from '../../http/operation.ts'
import type { App } from '../../http/server.ts'
import {
  findInvitation,
  inviteAnew,
  listInvitations,
  refuseToRevoke,
  revokeInvitation,
} from './invitations.ts'
import { grantorOf } from './members.ts'
import { mayGrant } from './roles.ts'
import { Invitation, InvitationBody, InvitationCreated, InvitationParams } from './schema.ts'
import type { PeopleService } from './service.ts'

const path = '/api/v1/invitations'

/** Inviting people to the workspace, by a link that the inviting person hands over. */
export function invitationRoutes(
  app: App,
  { db, clock, write, recheckAccess, role_scopes }: PeopleService,
): void {
  const existing = async (handle: Db, workspace_id: number, now: string, id: string): Promise<Invitation> =>
    orNotFound('invitation', await findInvitation(handle, workspace_id, now, id))

  operation(
    app,
    {
      method: 'GET',
      path,
      scope: 'members:write',
      summary: 'List the invitations that nobody has accepted yet, the newest first',
      query: ListQuery({}),
      answers: { 200: List(Invitation) },
      extension: true,
    },
    async (request) => {
      const page = paging(request.query)
      const now = isoTime(clock.now())
      const { invitations, total } = await listInvitations(db, request.access.workspace_id, now, page)
      return list(invitations, total, page)
    },
  )

  operation(
    app,
    {
      method: 'GET',
      path: `${path}/:invitation_id`,
      scope: 'members:write',
      summary: 'Read an invitation that nobody has accepted yet',
      params: InvitationParams,
      answers: { 200: Single(Invitation) },
      extension: true,
      conditional: true,
    },
    async (request, reply) => {
      const { workspace_id } = request.access
      const now = isoTime(clock.now())
      return sendRecord(request, reply, await existing(db, workspace_id, now, request.params.invitation_id))
    },
  )

  operation(
    app,
    {
      method: 'POST',
      path,
      scope: 'members:write',
      summary: 'Invite somebody; an earlier invitation of the same e-mail ends',
      body: InvitationBody,
      answers: { 201: Single(InvitationCreated) },
      extension: true,
      repeatable: true,
    },
    (request, reply) =>
      write(request, reply, async (tx, context, problems) => {
        const { email = '', role = 'member' } = request.body
        await lockEntry(tx, 'workspaces', context.workspace_id)
        const access = await recheckAccess(tx, request)
        if (problems.length) throw invalid(problems)
        const grantor = grantorOf(role_scopes, access)
        if (!mayGrant(grantor, role)) throw forbidden(`You may not give the role ${role}.`)
        // An invitation by a key ends with the key, also when the key expires.
        const until = access.actor.kind === 'key' ? access.expires_at : null
        const { invitation, token } = await inviteAnew(tx, context, { email, role, until, grantor })
        const shown = { ...invitation, url_path: `/invitation#${token}` }
        return { record: invitation, shown, location: `${path}/${invitation.id}` }
      }),
  )

  operation(
    app,
    {
      method: 'DELETE',
      path: `${path}/:invitation_id`,
      scope: 'members:write',
      summary: 'Take an invitation back',
      params: InvitationParams,
      answers: { 200: Deleted },
      extension: true,
      guarded: true,
    },
    (request, reply) =>
      write(request, reply, async (tx, context) => {
        const { invitation_id } = request.params
        await lockEntry(tx, 'invitations', invitation_id)
        const before = await existing(tx, context.workspace_id, context.now, invitation_id)
        checkMatch(request, before)
        const access = await recheckAccess(tx, request)
        refuseToRevoke(grantorOf(role_scopes, access), before)
        await revokeInvitation(tx, context, before)
        return { body: deleted('The invitation') }
      }),
  )
}
