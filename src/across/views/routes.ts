import type { Db } from '../../db/db.ts'
import { newId } from '../../db/ids.ts'
import { lockRow, lockText } from '../../db/locks.ts'
import { conflict, invalid, orNotFound } from '../../errors.ts'
import { auditSides, auditSnapshot, recordChange } from '../../events/audit.ts'
import { changesBetween } from '../../events/changes.ts'
import { Deleted, deleted, List, list, Single } from '../../http/envelope.ts'
import { checkMatch, sendRecord } from '../../http/etag.ts'
import { operation } from '../../http/operation.ts'
import { changesOf } from '../../http/patch.ts'
import type { App } from '../../http/server.ts'
import type { Service } from '../../http/service.ts'
import { countViews, findView, insertView, listViews, removeView, updateView } from './queries.ts'
import { most_views, type View, ViewParams, view_fields, viewSchemas } from './schema.ts'

const path = '/api/v1/views'
const reads = 'views:read'
const writes = 'views:write'

/** Saved views, which everybody in a workspace shares. */
export function viewRoutes(app: App, { db, write, resources }: Service): void {
  const { View, ViewCreate, ViewUpdate, ViewsQuery } = viewSchemas(resources)

  operation(
    app,
    {
      method: 'GET',
      path,
      scope: reads,
      summary: 'List saved views',
      description: 'Newest first, on one page.',
      query: ViewsQuery,
      answers: { 200: List(View) },
      extension: true,
    },
    async (request) => {
      const views = await listViews(db, request.access.workspace_id, request.query.list)
      return list(views, views.length, { page: 1, per_page: Math.max(1, views.length) })
    },
  )

  operation(
    app,
    {
      method: 'POST',
      path,
      scope: writes,
      summary: 'Save a view',
      description: `A workspace keeps ${most_views} at most; beyond, 409.`,
      body: ViewCreate,
      answers: { 201: Single(View) },
      extension: true,
      repeatable: true,
    },
    (request, reply) =>
      write(request, reply, async (tx, context, problems) => {
        if (problems.length) throw invalid(problems)
        const { workspace_id } = context
        // One after the other, so that two do not both take the last place.
        await lockText(tx, 'saved_views', workspace_id, '')
        if ((await countViews(tx, workspace_id)) >= most_views)
          throw conflict(`A workspace keeps ${most_views} saved views at most: delete one first.`)
        const { list = '', name = '', query = '' } = request.body
        const id = newId('view')
        await insertView(tx, workspace_id, context.now, { id, list, name, query })
        const record = await existing(tx, workspace_id, id)
        await recordChange(tx, context, { ...change('created', id), after: auditSnapshot(record) })
        return { record, location: `${path}/${id}` }
      }),
  )

  operation(
    app,
    {
      method: 'GET',
      path: `${path}/:view_id`,
      scope: reads,
      summary: 'Read a saved view',
      params: ViewParams,
      answers: { 200: Single(View) },
      extension: true,
      conditional: true,
    },
    async (request, reply) =>
      sendRecord(request, reply, await existing(db, request.access.workspace_id, request.params.view_id)),
  )

  operation(
    app,
    {
      method: ['PUT', 'PATCH'],
      path: `${path}/:view_id`,
      scope: writes,
      summary: 'Change a saved view',
      params: ViewParams,
      body: ViewUpdate,
      answers: { 200: Single(View) },
      extension: true,
      guarded: true,
    },
    (request, reply) =>
      write(request, reply, async (tx, context, problems) => {
        const { workspace_id } = context
        const { view_id } = request.params
        await lockRow(tx, 'saved_views', workspace_id, view_id)
        const before = await existing(tx, workspace_id, view_id)
        checkMatch(request, before)
        if (problems.length) throw invalid(problems)
        const changes = changesOf(request.body, before, view_fields)
        if (!Object.keys(changes).length) return { record: before }
        await updateView(tx, workspace_id, view_id, context.now, changes)
        const after = await existing(tx, workspace_id, view_id)
        const told = changesBetween(before, after, view_fields)
        if (told)
          await recordChange(tx, context, { ...change('updated', view_id), ...auditSides(told, after) })
        return { record: after }
      }),
  )

  operation(
    app,
    {
      method: 'DELETE',
      path: `${path}/:view_id`,
      scope: writes,
      summary: 'Delete a saved view',
      description: 'For good: views have no trash.',
      params: ViewParams,
      answers: { 200: Deleted },
      extension: true,
      guarded: true,
    },
    (request, reply) =>
      write(request, reply, async (tx, context) => {
        const { workspace_id } = context
        const { view_id } = request.params
        await lockRow(tx, 'saved_views', workspace_id, view_id)
        const before = await existing(tx, workspace_id, view_id)
        checkMatch(request, before)
        await removeView(tx, workspace_id, view_id)
        await recordChange(tx, context, { ...change('deleted', view_id), before: auditSnapshot(before) })
        return { body: deleted('The saved view') }
      }),
  )
}

const change = (action: string, record_id: string) => ({ action, kind: 'views', record_id })

const existing = async (db: Db, workspace_id: number, id: string): Promise<View> =>
  orNotFound('saved view', await findView(db, workspace_id, id))
