import { lockEntry } from '../../db/locks.ts'
import { recordChange } from '../../events/audit.ts'
import type { Access } from '../../http/auth.ts'
import { Deleted, deleted, List, list, paging, Single } from '../../http/envelope.ts'
import { conflict, forbidden, invalid } from '../../http/errors.ts'
import { checkMatch, sendRecord } from '../../http/etag.ts'
import { ListQuery } from '../../http/fields.ts'
import { orNotFound } from '../../http/records.ts'
import type { App } from '../../http/server.ts'
import type { Service } from '../../http/service.ts'
import { takeBackKeysBy } from '../keys/queries.ts'
import { noteLeaving } from './deletion.ts'
import { revokeInvitationsBy } from './invitations.ts'
import { findMember, grantorOf, isLastOwner, listMembers } from './members.ts'
import { mayGrant, type Role } from './roles.ts'
import { Member, MemberBody, MemberParams, RemovalQuery } from './schema.ts'
import { endSessions } from './sessions.ts'

const path = '/api/v1/members'

const beyond = (role: Role) =>
  forbidden(`You may not give or take the role ${role}: it may do more than you. Ask somebody who has it.`)
function refuseWithoutKeys({ scopes }: Access): void {
  if (scopes && !scopes.includes('keys:write')) throw forbidden('To revoke keys needs keys:write.')
}
const last = () => conflict('A workspace keeps at least one owner: make somebody else an owner first.')

/** The people of the workspace and what they may do. */
export function memberRoutes(app: App, { db, write, stillIn }: Service): void {
  app.get(
    path,
    {
      config: { scope: 'members:read' },
      schema: {
        'x-extension': true,
        summary: 'List the members of the workspace, the newest first',
        querystring: ListQuery({}),
        response: { 200: List(Member) },
      },
    },
    async (request) => {
      const page = paging(request.query)
      const { members, total } = await listMembers(db, request.access.workspace_id, page)
      return list(members, total, page)
    },
  )

  app.get(
    `${path}/:user_id`,
    {
      config: { scope: 'members:read' },
      schema: {
        'x-extension': true,
        summary: 'Read a member',
        params: MemberParams,
        response: { 200: Single(Member) },
      },
    },
    async (request, reply) => {
      const { workspace_id } = request.access
      const member = await findMember(db, workspace_id, request.params.user_id)
      return sendRecord(request, reply, orNotFound('member', member))
    },
  )

  app.route({
    method: ['PUT', 'PATCH'],
    url: `${path}/:user_id`,
    config: { scope: 'members:write' },
    schema: {
      ...{ 'x-extension': true, 'x-conflict': true },
      summary: 'Change the role of a member',
      params: MemberParams,
      body: MemberBody,
      response: { 200: Single(Member) },
    },
    handler: (request, reply) =>
      write(request, reply, async (tx, context, problems) => {
        const { workspace_id } = context
        const { user_id } = request.params
        // One after the other: of two owners who step down at once, the second one is the last.
        await lockEntry(tx, 'workspaces', workspace_id)
        const access = await stillIn(tx, request)
        const before = orNotFound('member', await findMember(tx, workspace_id, user_id))
        checkMatch(request, before)
        if (problems.length) throw invalid(problems)
        const { role = before.role, revoke_keys } = request.body
        if (revoke_keys) {
          refuseWithoutKeys(access)
          await takeBackKeysBy(tx, context, user_id, access.scopes)
        }
        if (role === before.role) return { record: before }
        const grantor = grantorOf(access)
        for (const one of [before.role, role]) if (!mayGrant(grantor, one)) throw beyond(one)
        if (await isLastOwner(tx, workspace_id, before)) throw last()
        await tx
          .updateTable('memberships')
          .set({ role })
          .where('workspace_id', '=', workspace_id)
          .where('user_id', '=', user_id)
          .execute()
        await revokeInvitationsBy(tx, context, user_id, role)
        await recordChange(tx, context, {
          ...{ action: 'updated', kind: 'members', record_id: user_id },
          ...{ before: { role: before.role }, after: { role } },
        })
        return { record: { ...before, role } }
      }),
  })

  app.delete(
    `${path}/:user_id`,
    {
      config: { scope: 'members:write' },
      schema: {
        ...{ 'x-extension': true, 'x-conflict': true },
        summary: 'Remove a member from the workspace; the sessions there end',
        params: MemberParams,
        querystring: RemovalQuery,
        response: { 200: Deleted },
      },
    },
    (request, reply) =>
      write(request, reply, async (tx, context) => {
        const { workspace_id } = context
        const { user_id } = request.params
        await lockEntry(tx, 'workspaces', workspace_id)
        // Who signs in at this moment comes before, and the session ends here, or after, and is no member any more.
        await lockEntry(tx, 'users', user_id)
        const access = await stillIn(tx, request)
        const before = orNotFound('member', await findMember(tx, workspace_id, user_id))
        checkMatch(request, before)
        if (!mayGrant(grantorOf(access), before.role)) throw beyond(before.role)
        if (await isLastOwner(tx, workspace_id, before)) throw last()
        await tx
          .deleteFrom('memberships')
          .where('workspace_id', '=', workspace_id)
          .where('user_id', '=', user_id)
          .execute()
        await noteLeaving(tx, context.now, user_id)
        await endSessions(tx, user_id, { workspace_id })
        if (request.query.revoke_keys === 'true') {
          refuseWithoutKeys(access)
          await takeBackKeysBy(tx, context, user_id, access.scopes)
        }
        await revokeInvitationsBy(tx, context, user_id, null)
        const { name, email, role } = before
        await recordChange(tx, context, {
          ...{ action: 'deleted', kind: 'members', record_id: user_id },
          before: { name, email, role },
        })
        return { body: deleted('The member') }
      }),
  )
}
