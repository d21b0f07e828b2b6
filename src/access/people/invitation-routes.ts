import { isoTime } from '../../clock.ts'
import { lockEntry } from '../../db/locks.ts'
import { Deleted, deleted, List, list, paging, Single } from '../../http/envelope.ts'
import { forbidden, invalid } from '../../http/errors.ts'
import { checkMatch, sendRecord } from '../../http/etag.ts'
import { ListQuery } from '../../http/fields.ts'
import { orNotFound } from '../../http/records.ts'
import type { App } from '../../http/server.ts'
import type { Service } from '../../http/service.ts'
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

const path = '/api/v1/invitations'

/** Inviting people to the workspace, by a link that is handed over by whoever made it. */
export function invitationRoutes(app: App, { db, clock, write, stillIn }: Service): void {
  app.get(
    path,
    {
      config: { scope: 'members:write' },
      schema: {
        'x-extension': true,
        summary: 'List the invitations that nobody has accepted yet, the newest first',
        querystring: ListQuery({}),
        response: { 200: List(Invitation) },
      },
    },
    async (request) => {
      const page = paging(request.query)
      const now = isoTime(clock.now())
      const { invitations, total } = await listInvitations(db, request.access.workspace_id, now, page)
      return list(invitations, total, page)
    },
  )

  app.get(
    `${path}/:invitation_id`,
    {
      config: { scope: 'members:write' },
      schema: {
        'x-extension': true,
        summary: 'Read an invitation that nobody has accepted yet',
        params: InvitationParams,
        response: { 200: Single(Invitation) },
      },
    },
    async (request, reply) => {
      const { workspace_id } = request.access
      const now = isoTime(clock.now())
      const invitation = await findInvitation(db, workspace_id, now, request.params.invitation_id)
      return sendRecord(request, reply, orNotFound('invitation', invitation))
    },
  )

  app.post(
    path,
    {
      config: { scope: 'members:write' },
      schema: {
        'x-extension': true,
        summary: 'Invite somebody; an earlier invitation of the same e-mail ends',
        body: InvitationBody,
        response: { 201: Single(InvitationCreated) },
      },
    },
    (request, reply) =>
      write(request, reply, async (tx, context, problems) => {
        const { workspace_id } = context
        const { email = '', role = 'member' } = request.body
        await lockEntry(tx, 'workspaces', workspace_id)
        const access = await stillIn(tx, request)
        if (problems.length) throw invalid(problems)
        const grantor = grantorOf(access)
        if (!mayGrant(grantor, role)) throw forbidden(`You may not give the role ${role}.`)
        // What a key offers ends with it, also by the clock.
        const until = access.actor.kind === 'key' ? access.expires_at : null
        const { invitation, token } = await inviteAnew(tx, context, { email, role, until, grantor })
        return {
          record: invitation,
          shown: { ...invitation, url_path: `/invitation#${token}` },
          location: `${path}/${invitation.id}`,
        }
      }),
  )

  app.delete(
    `${path}/:invitation_id`,
    {
      config: { scope: 'members:write' },
      schema: {
        'x-extension': true,
        summary: 'Take an invitation back',
        params: InvitationParams,
        response: { 200: Deleted },
      },
    },
    (request, reply) =>
      write(request, reply, async (tx, context) => {
        const { workspace_id } = context
        const { invitation_id } = request.params
        await lockEntry(tx, 'invitations', invitation_id)
        const before = orNotFound(
          'invitation',
          await findInvitation(tx, workspace_id, context.now, invitation_id),
        )
        checkMatch(request, before)
        const access = await stillIn(tx, request)
        refuseToRevoke(grantorOf(access), before)
        await revokeInvitation(tx, context, before)
        return { body: deleted('The invitation') }
      }),
  )
}
