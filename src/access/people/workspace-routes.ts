import { type Static, Type } from 'typebox'
import type { Clock } from '../../clock.ts'
import type { Tx } from '../../db/db.ts'
import { lockEntry } from '../../db/locks.ts'
import { refuse, refuseMore, unauthorized } from '../../errors.ts'
import type { Context } from '../../events/context.ts'
import { endpoints } from '../../http/endpoints.ts'
import { Body, Id, Text, Timestamp, Titled } from '../../http/fields.ts'
import type { App } from '../../http/server.ts'
import { changeWorkspace, findWorkspace, insertWorkspace } from '../workspaces.ts'
import { cookieOf } from './cookie.ts'
import { localeProblems } from './fields.ts'
import { countOwned, insertMember } from './memberships.ts'
import { Currency, SignedIn } from './schema.ts'
import type { PeopleService } from './service.ts'
import { type OwnSession, ownSession, signedIn } from './session-view.ts'
import { moveSession } from './sessions.ts'

const path = '/api/v1/workspace'
/** For each owner. All other limits are for each workspace. */
const max_workspaces = 100

const Workspace = Titled('Workspace', {
  id: Id(),
  name: Type.String({ examples: ['Acme'] }),
  currency: Currency(),
  created_at: Timestamp(),
})
const name = Text(255)
const currency = Currency({
  description: 'The currency of all deals, as a code of ISO 4217. A change does not convert values.',
})
const WorkspaceBody = Body({ name, currency }, ['id', 'created_at'])
const NewWorkspaceBody = Body({ name, currency }, [], ['name'])

/** The workspace of a key or a session, and making another one. */
export function workspaceRoutes(app: App, service: PeopleService): void {
  const { db, clock, role_scopes } = service
  const kind = {
    path,
    reads: 'workspace:read',
    writes: 'workspace:write',
    noun: 'workspace',
  }
  const workspace = endpoints(app, service, kind)

  workspace.read({ summary: 'Read the workspace', view: Workspace }, ({ access }) =>
    findWorkspace(db, access.workspace_id),
  )

  workspace.change(
    { summary: 'Change the workspace', body: WorkspaceBody, view: Workspace },
    async (tx, context, { body, problems, expect, recheck }) => {
      await lockEntry(tx, 'workspaces', context.workspace_id)
      await recheck()
      expect(await findWorkspace(tx, context.workspace_id))
      refuse([...problems, ...localeProblems(body)])
      await changeWorkspace(tx, context, body)
      return { record: await findWorkspace(tx, context.workspace_id) }
    },
  )

  endpoints(app, service, { ...kind, path: '/api/v1/workspaces' }).create(
    {
      summary: 'Create a workspace as its owner, and switch to it',
      description: `409 above ${max_workspaces} workspaces that a person owns.`,
      body: NewWorkspaceBody,
      view: SignedIn,
      people_only: true,
      // The session is in another workspace when the request is repeated.
      repeatable: false,
      conflict: true,
    },
    async (tx, context, { request, body, problems, recheck }) => {
      const own = ownSession(request)
      await lockEntry(tx, 'users', own.user_id)
      await recheck()
      refuse([...problems, ...localeProblems(body)])
      const { workspace_id, token } = await createWorkspace(tx, clock, context, own, body)
      const record = await signedIn(tx, { ...own, workspace_id }, role_scopes, clock.now())
      if (!record) throw unauthorized()
      return { record, location: path, set_cookie: cookieOf(request, token) }
    },
  )
}

/** Makes a workspace with the person as its owner, and moves the session there. Throws 409 above the limit. */
async function createWorkspace(
  tx: Tx,
  clock: Clock,
  context: Context,
  { user_id, session_id }: OwnSession,
  { name = '', currency }: Static<typeof NewWorkspaceBody>,
): Promise<{ workspace_id: number; token: string }> {
  const limit = `A person owns at most ${max_workspaces} workspaces`
  refuseMore('too_many_workspaces', await countOwned(tx, user_id), max_workspaces, limit, 'Use one of them.')
  const { actor, request_id } = context
  const workspace_id = await insertWorkspace(tx, clock, actor, name, { currency, request_id })
  const target = { ...context, workspace_id }
  await insertMember(tx, target, user_id, 'owner')
  return { workspace_id, token: await moveSession(tx, target, session_id, user_id) }
}
