import { isoTime } from '../../clock.ts'
import { endpoints } from '../../http/endpoints.ts'
import { ListQuery } from '../../http/fields.ts'
import type { App } from '../../http/server.ts'
import { findInvitation, invite, listInvitations, takeBack } from './invitations.ts'
import { Invitation, InvitationBody, InvitationCreated, InvitationParams } from './schema.ts'
import type { PeopleService } from './service.ts'

/** Inviting people to the workspace, by a link that the inviting person hands over. */
export function invitationRoutes(app: App, service: PeopleService): void {
  const { db, clock, role_scopes } = service
  const { public_url } = service.config
  const invitations = endpoints(app, service, {
    path: '/api/v1/invitations',
    params: InvitationParams,
    reads: 'members:write',
    noun: 'invitation',
  })

  invitations.list(
    {
      summary: 'List the open invitations, the newest first',
      query: ListQuery({}),
      view: Invitation,
    },
    ({ access }, { page }) => listInvitations(db, access.workspace_id, isoTime(clock.now()), page),
  )

  invitations.read({ summary: 'Read an open invitation', view: Invitation }, ({ access, params }) =>
    findInvitation(db, access.workspace_id, isoTime(clock.now()), params.invitation_id),
  )

  invitations.create(
    {
      summary: 'Invite a person; an earlier invitation of the same e-mail ends',
      body: InvitationBody,
      view: InvitationCreated,
    },
    (tx, context, sent) => invite(tx, context, { role_scopes, public_url }, sent),
  )

  invitations.remove({ summary: 'Revoke an invitation' }, (tx, context, sent) =>
    takeBack(tx, context, role_scopes, sent),
  )
}
