import { endpoints } from '../../http/endpoints.ts'
import { List, list } from '../../http/envelope.ts'
import { operation } from '../../http/operation.ts'
import type { App } from '../../http/server.ts'
import type { Service } from '../../http/service.ts'
import { changeView, createView, deleteView } from './operations.ts'
import { findView, listViews } from './queries.ts'
import { max_views, ViewParams, viewSchemas } from './schema.ts'

/** Saved views, which everybody in a workspace shares. */
export function viewRoutes(app: App, service: Service): void {
  const { db, resources } = service
  const { View, ViewCreate, ViewUpdate, ViewsQuery } = viewSchemas(resources)
  const kind = {
    path: '/api/v1/views',
    params: ViewParams,
    reads: 'views:read',
    writes: 'views:write',
    noun: 'saved view',
    extension: true,
  }
  const views = endpoints(app, service, kind)

  operation(
    app,
    {
      method: 'GET',
      path: kind.path,
      scope: kind.reads,
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
  views.create(
    {
      summary: 'Save a view',
      description: `409 above ${max_views} saved views of the workspace.`,
      body: ViewCreate,
      view: View,
    },
    async (tx, context, sent) => ({ record: await createView(tx, context, sent) }),
  )
  views.read({ summary: 'Read a saved view', view: View }, ({ access, params }) =>
    findView(db, access.workspace_id, params.view_id),
  )
  views.change(
    { summary: 'Change a saved view', body: ViewUpdate, view: View },
    async (tx, context, sent) => ({
      record: await changeView(tx, context, sent),
    }),
  )
  views.remove(
    { summary: 'Delete a saved view', description: 'Removes the view for good: views have no trash.' },
    deleteView,
  )
}
