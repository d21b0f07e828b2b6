import { lockEntry } from '../../db/locks.ts'
import { invalid, orNotFound } from '../../errors.ts'
import { Deleted, deleted, List, list, paging, Single } from '../../http/envelope.ts'
import { checkMatch, sendRecord } from '../../http/etag.ts'
import { ListQuery } from '../../http/fields.ts'
import { operation } from '../../http/operation.ts'
import type { App } from '../../http/server.ts'
import { changeMember, removeMember } from './member-changes.ts'
import { findMember, grantorOf, listMembers } from './members.ts'
import { Member, MemberBody, MemberParams, RemovalQuery } from './schema.ts'
import type { PeopleService } from './service.ts'

const path = '/api/v1/members'

/** The people of the workspace and what they may do. */
export function memberRoutes(app: App, { db, write, recheckAccess, role_scopes }: PeopleService): void {
  operation(
    app,
    {
      method: 'GET',
      path,
      scope: 'members:read',
      summary: 'List the members of the workspace, the newest first',
      query: ListQuery({}),
      answers: { 200: List(Member) },
      extension: true,
    },
    async (request) => {
      const page = paging(request.query)
      const { members, total } = await listMembers(db, request.access.workspace_id, page)
      return list(members, total, page)
    },
  )

  operation(
    app,
    {
      method: 'GET',
      path: `${path}/:user_id`,
      scope: 'members:read',
      summary: 'Read a member',
      params: MemberParams,
      answers: { 200: Single(Member) },
      extension: true,
      conditional: true,
    },
    async (request, reply) => {
      const { workspace_id } = request.access
      const member = await findMember(db, workspace_id, request.params.user_id)
      return sendRecord(request, reply, orNotFound('member', member))
    },
  )

  operation(
    app,
    {
      method: ['PUT', 'PATCH'],
      path: `${path}/:user_id`,
      scope: 'members:write',
      summary: 'Change the role of a member',
      params: MemberParams,
      body: MemberBody,
      answers: { 200: Single(Member) },
      extension: true,
      guarded: true,
      conflict: true,
    },
    (request, reply) =>
      write(request, reply, async (tx, context, problems) => {
        const { workspace_id } = context
        // Two owners who step down at the same time: the second one is the last owner, and is refused.
        await lockEntry(tx, 'workspaces', workspace_id)
        const access = await recheckAccess(tx, request)
        const grantor = grantorOf(role_scopes, access)
        const member = orNotFound('member', await findMember(tx, workspace_id, request.params.user_id))
        checkMatch(request, member)
        if (problems.length) throw invalid(problems)
        const { role, revoke_keys } = request.body
        return { record: await changeMember(tx, context, { access, grantor, member, role, revoke_keys }) }
      }),
  )

  operation(
    app,
    {
      method: 'DELETE',
      path: `${path}/:user_id`,
      scope: 'members:write',
      summary: 'Remove a member from the workspace; the sessions there end',
      params: MemberParams,
      query: RemovalQuery,
      answers: { 200: Deleted },
      extension: true,
      guarded: true,
      conflict: true,
    },
    (request, reply) =>
      write(request, reply, async (tx, context) => {
        const { workspace_id } = context
        const { user_id } = request.params
        await lockEntry(tx, 'workspaces', workspace_id)
        // A concurrent sign-in either committed before, and its session ends here, or waits and finds no membership.
        await lockEntry(tx, 'users', user_id)
        const access = await recheckAccess(tx, request)
        const grantor = grantorOf(role_scopes, access)
        const member = orNotFound('member', await findMember(tx, workspace_id, user_id))
        checkMatch(request, member)
        const revoke_keys = request.query.revoke_keys === 'true'
        await removeMember(tx, context, { access, grantor, member, revoke_keys })
        return { body: deleted('The member') }
      }),
  )
}
