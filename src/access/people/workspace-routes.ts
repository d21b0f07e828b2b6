import { Type } from 'typebox'
import { lockEntry } from '../../db/locks.ts'
import { Single } from '../../http/envelope.ts'
import { invalid, unauthorized } from '../../http/errors.ts'
import { checkMatch, sendRecord } from '../../http/etag.ts'
import { Body, Id, Text, Timestamp } from '../../http/fields.ts'
import { refuseMore } from '../../http/limits.ts'
import type { App } from '../../http/server.ts'
import type { Service } from '../../http/service.ts'
import { changeWorkspace, findWorkspace, insertWorkspace } from '../workspaces.ts'
import { cookieOf } from './cookie.ts'
import { placeProblems } from './fields.ts'
import { countOwned, insertMember } from './memberships.ts'
import { Currency, SignedIn } from './schema.ts'
import { placeOf, signedIn } from './session-view.ts'
import { moveSession } from './sessions.ts'

const path = '/api/v1/workspace'
/** Each has its own limits of everything else. */
const most_workspaces = 100

const Workspace = Type.Object(
  { id: Id(), name: Type.String({ examples: ['Acme'] }), currency: Currency(), created_at: Timestamp() },
  { title: 'Workspace' },
)
const name = Text(255)
const currency = Currency({ description: 'Of the values of all deals, ISO 4217; it converts nothing.' })
const WorkspaceBody = Body({ name, currency }, ['id', 'created_at'])
const NewWorkspaceBody = Body({ name, currency }, [], ['name'])

/** The workspace that a key or a session is of, and making another one. */
export function workspaceRoutes(app: App, { db, clock, write, stillIn, scopes }: Service): void {
  app.get(
    path,
    {
      config: { scope: 'workspace:read' },
      schema: { 'x-extension': true, summary: 'Read the workspace', response: { 200: Single(Workspace) } },
    },
    async (request, reply) =>
      sendRecord(request, reply, await findWorkspace(db, request.access.workspace_id)),
  )

  app.route({
    method: ['PUT', 'PATCH'],
    url: path,
    config: { scope: 'workspace:write' },
    schema: {
      'x-extension': true,
      summary: 'Change the workspace',
      body: WorkspaceBody,
      response: { 200: Single(Workspace) },
    },
    handler: (request, reply) =>
      write(request, reply, async (tx, context, problems) => {
        await lockEntry(tx, 'workspaces', context.workspace_id)
        await stillIn(tx, request)
        checkMatch(request, await findWorkspace(tx, context.workspace_id))
        const all = [...problems, ...placeProblems(request.body)]
        if (all.length) throw invalid(all)
        await changeWorkspace(tx, context, request.body)
        return { record: await findWorkspace(tx, context.workspace_id) }
      }),
  })

  app.post(
    '/api/v1/workspaces',
    {
      config: { scope: 'workspace:write', people_only: true, unrepeatable: true },
      schema: {
        ...{ 'x-extension': true, 'x-conflict': true },
        summary: 'Make another workspace, as its owner, and go to it',
        description: `A person owns at most ${most_workspaces}; beyond, 409.`,
        body: NewWorkspaceBody,
        response: { 201: Single(SignedIn) },
      },
    },
    (request, reply) =>
      write(request, reply, async (tx, context, problems) => {
        const place = placeOf(request)
        await lockEntry(tx, 'users', place.user_id)
        await stillIn(tx, request)
        const { name = '', currency } = request.body
        const all = [...problems, ...placeProblems(request.body)]
        if (all.length) throw invalid(all)
        const own = await countOwned(tx, place.user_id)
        refuseMore(
          own,
          most_workspaces,
          `A person owns at most ${most_workspaces} workspaces`,
          'Use one of them.',
        )
        const { actor, request_id } = context
        const workspace_id = await insertWorkspace(tx, clock, actor, name, { currency, request_id })
        const there = { ...context, workspace_id }
        await insertMember(tx, there, place.user_id, 'owner')
        const token = await moveSession(tx, there, place.session_id, place.user_id)
        const record = await signedIn(tx, { ...place, workspace_id }, scopes)
        if (!record) throw unauthorized()
        return { record, location: path, set_cookie: cookieOf(request, token) }
      }),
  )
}
