import { type Clock, isoTime } from '../clock.ts'
import type { Db } from '../db/db.ts'
import { lockEntry } from '../db/locks.ts'
import { Deleted, deleted, List, list, paging, Single } from '../http/envelope.ts'
import { forbidden, invalid } from '../http/errors.ts'
import { checkMatch } from '../http/etag.ts'
import { ListQuery } from '../http/fields.ts'
import { orNotFound } from '../http/records.ts'
import type { App } from '../http/server.ts'
import type { Writer } from '../http/write.ts'
import {
  findInvitation,
  insertInvitation,
  listInvitations,
  openInvitations,
  revokeInvitation,
} from './invitations.ts'
import { grantorOf } from './members.ts'
import { roleOf } from './memberships.ts'
import { mayChange, mayGive } from './roles.ts'
import { Invitation, InvitationBody, InvitationCreated, InvitationParams } from './schema.ts'
import { emailKey, userByEmail } from './users.ts'

const path = '/api/v1/invitations'

type Deps = { db: Db; clock: Clock; write: Writer }

/** Inviting people to the workspace, by a link that is handed over by whoever made it. */
export function invitationRoutes(app: App, { db, clock, write }: Deps): void {
  app.get(
    path,
    {
      config: { scope: 'members:read' },
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
        const all = [...problems]
        const user = all.length ? undefined : await userByEmail(tx, email)
        if (user && (await roleOf(tx, workspace_id, user.id)))
          all.push({
            field: 'email',
            code: 'taken',
            message: 'email is that of a member already.',
          })
        if (all.length) throw invalid(all)
        if (!mayGive(await grantorOf(tx, request), role))
          throw forbidden(`You may not give the role ${role}.`)
        const before = await openInvitations(tx, workspace_id, context.now).select(['id', 'email']).execute()
        for (const { id, email: other } of before) {
          const same =
            emailKey(other) === emailKey(email) && (await findInvitation(tx, workspace_id, context.now, id))
          if (same) await revokeInvitation(tx, context, same)
        }
        const { invitation, token } = await insertInvitation(tx, context, { email, role })
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
        if (!mayChange(await grantorOf(tx, request), before.role))
          throw forbidden('Only an owner takes back what would make an owner.')
        await revokeInvitation(tx, context, before)
        return { body: deleted('The invitation') }
      }),
  )
}
