import { endpoints } from '../../http/endpoints.ts'
import { ListQuery } from '../../http/fields.ts'
import type { App } from '../../http/server.ts'
import { changeMember, removeMember } from './member-changes.ts'
import { findMember, listMembers, withFormerNames } from './members.ts'
import { Member, MemberBody, MemberParams, RemovalQuery } from './schema.ts'
import type { PeopleService } from './service.ts'

/** The people of the workspace and what they may do. */
export function memberRoutes(app: App, service: PeopleService): void {
  const { db, role_scopes } = service
  const members = endpoints(app, service, {
    path: '/api/v1/members',
    params: MemberParams,
    reads: 'members:read',
    writes: 'members:write',
    noun: 'member',
  })

  members.list(
    {
      summary: 'List the members of the workspace, the newest first',
      query: ListQuery({}),
      view: Member,
    },
    async ({ access: { workspace_id } }, { page }) => {
      const { records, ...found } = await listMembers(db, workspace_id, page)
      return { ...found, records: await withFormerNames(db, workspace_id, records) }
    },
  )

  members.read({ summary: 'Read a member', view: Member }, ({ access, params }) =>
    findMember(db, access.workspace_id, params.user_id),
  )

  members.change(
    { summary: 'Change the role of a member', body: MemberBody, view: Member, conflict: true },
    async (tx, context, sent) => ({ record: await changeMember(tx, context, role_scopes, sent) }),
  )

  members.remove(
    {
      summary: 'Remove a member from the workspace; the sessions there end',
      query: RemovalQuery,
      conflict: true,
    },
    (tx, context, sent) => removeMember(tx, context, role_scopes, sent),
  )
}
