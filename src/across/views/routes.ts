import type { Db } from '../../db/db.ts'
import { newId } from '../../db/ids.ts'
import { lockRow, lockText } from '../../db/locks.ts'
import { factsOf, recordChange, sidesOf } from '../../events/audit.ts'
import { changesBetween } from '../../events/changes.ts'
import { Deleted, deleted, List, list, Single } from '../../http/envelope.ts'
import { conflict, invalid } from '../../http/errors.ts'
import { checkMatch, sendRecord } from '../../http/etag.ts'
import { changesOf } from '../../http/patch.ts'
import { orNotFound } from '../../http/records.ts'
import type { App } from '../../http/server.ts'
import type { Service } from '../../http/service.ts'
import { countViews, findView, insertView, listViews, removeView, updateView } from './queries.ts'
import { most_views, View, ViewCreate, ViewParams, ViewsQuery, ViewUpdate, view_fields } from './schema.ts'

const path = '/api/v1/views'
const reads = { scope: 'views:read' }
const writes = { scope: 'views:write' }
const extension = { 'x-extension': true }

/** Saved views, which everybody in a workspace shares. */
export function viewRoutes(app: App, { db, write }: Service): void {
  app.get(
    path,
    {
      config: reads,
      schema: {
        ...extension,
        summary: 'List saved views',
        description: 'Newest first, on one page.',
        querystring: ViewsQuery,
        response: { 200: List(View) },
      },
    },
    async (request) => {
      const views = await listViews(db, request.access.workspace_id, request.query.list)
      return list(views, views.length, { page: 1, per_page: Math.max(1, views.length) })
    },
  )

  app.post(
    path,
    {
      config: writes,
      schema: {
        ...extension,
        summary: 'Save a view',
        description: `A workspace keeps ${most_views} at most; beyond, 409.`,
        body: ViewCreate,
        response: { 201: Single(View) },
      },
    },
    (request, reply) =>
      write(request, reply, async (tx, context, problems) => {
        if (problems.length) throw invalid(problems)
        const { workspace_id } = context
        // One after the other, so that two do not both take the last place.
        await lockText(tx, 'saved_views', workspace_id, '')
        if ((await countViews(tx, workspace_id)) >= most_views)
          throw conflict(`A workspace keeps ${most_views} saved views at most: delete one first.`)
        const { list = 'contacts', name = '', query = '' } = request.body
        const id = newId('view')
        await insertView(tx, workspace_id, context.now, { id, list, name, query })
        const record = await existing(tx, workspace_id, id)
        await recordChange(tx, context, { ...change('created', id), after: factsOf(record) })
        return { record, location: `${path}/${id}` }
      }),
  )

  app.get(
    `${path}/:view_id`,
    {
      config: reads,
      schema: {
        ...extension,
        summary: 'Read a saved view',
        params: ViewParams,
        response: { 200: Single(View) },
      },
    },
    async (request, reply) =>
      sendRecord(request, reply, await existing(db, request.access.workspace_id, request.params.view_id)),
  )

  app.route({
    method: ['PUT', 'PATCH'],
    url: `${path}/:view_id`,
    config: writes,
    schema: {
      ...extension,
      summary: 'Change a saved view',
      params: ViewParams,
      body: ViewUpdate,
      response: { 200: Single(View) },
    },
    handler: (request, reply) =>
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
        if (told) await recordChange(tx, context, { ...change('updated', view_id), ...sidesOf(told, after) })
        return { record: after }
      }),
  })

  app.delete(
    `${path}/:view_id`,
    {
      config: writes,
      schema: {
        ...extension,
        summary: 'Delete a saved view',
        description: 'For good: views have no trash.',
        params: ViewParams,
        response: { 200: Deleted },
      },
    },
    (request, reply) =>
      write(request, reply, async (tx, context) => {
        const { workspace_id } = context
        const { view_id } = request.params
        await lockRow(tx, 'saved_views', workspace_id, view_id)
        const before = await existing(tx, workspace_id, view_id)
        checkMatch(request, before)
        await removeView(tx, workspace_id, view_id)
        await recordChange(tx, context, { ...change('deleted', view_id), before: factsOf(before) })
        return { body: deleted('The saved view') }
      }),
  )
}

const change = (action: string, record_id: string) => ({ action, kind: 'views', record_id })

const existing = async (db: Db, workspace_id: number, id: string): Promise<View> =>
  orNotFound('saved view', await findView(db, workspace_id, id))
