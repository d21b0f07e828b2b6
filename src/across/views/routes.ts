import { any_session } from '../../http/auth.ts'
import { endpoints } from '../../http/endpoints.ts'
import { List, list } from '../../http/envelope.ts'
import { acceptedCodes } from '../../http/filter-parameters.ts'
import { operation } from '../../http/operation.ts'
import type { App } from '../../http/server.ts'
import type { Service } from '../../http/service.ts'
import { changeView, createView, deleteView } from './operations.ts'
import { findView, listViews } from './queries.ts'
import { listsOf, max_views, tabSchemas, ViewParams, viewSchemas } from './schema.ts'
import { changeTabs, listTabs } from './tabs.ts'

const onePage = <Record>(records: Record[]) =>
  list(records, records.length, { page: 1, per_page: Math.max(1, records.length) })

/** Saved views: those that everybody in a workspace shares, and private ones. */
export function viewRoutes(app: App, service: Service): void {
  const { db, resources } = service
  const { View, ViewCreate, ViewUpdate, ViewsQuery } = viewSchemas(resources)
  const lists = listsOf(resources)
  const kind = {
    path: '/api/v1/views',
    params: ViewParams,
    reads: 'views:read',
    writes: 'views:write',
    noun: 'saved view',
  }
  const views = endpoints(app, service, kind)

  operation(
    app,
    {
      method: 'GET',
      path: kind.path,
      scope: kind.reads,
      summary: 'List saved views',
      description: 'The shared views and your own private ones, newest first, on one page.',
      query: ViewsQuery,
      answers: { 200: List(View) },
    },
    async ({ access, query }) => {
      const asked = acceptedCodes('list', lists, query.list)
      return onePage(await listViews(db, access.workspace_id, access.actor, asked))
    },
  )
  views.create(
    {
      summary: 'Save a view',
      description: `409 above ${max_views} shared views of the workspace, or private ones of a person.`,
      body: ViewCreate,
      view: View,
    },
    async (tx, context, sent) => ({ record: await createView(tx, context, sent) }),
  )
  views.read({ summary: 'Read a saved view', view: View }, ({ access, params }) =>
    findView(db, access.workspace_id, access.actor, params.view_id),
  )
  views.change(
    {
      summary: 'Change a saved view',
      description:
        'A person changes their own views, and views that no person made. Administrators and keys change all shared views.',
      body: ViewUpdate,
      view: View,
      conflict: true,
    },
    async (tx, context, sent) => ({ record: await changeView(tx, context, sent) }),
  )
  views.remove(
    {
      summary: 'Delete a saved view',
      description: 'Removes the view for good: views have no trash. 403 where a change is refused.',
    },
    (tx, context, sent) => deleteView(tx, context, sent),
  )
  tabRoutes(app, service)
}

/** The order of the tabs above each list, and the default tab, of the person who is signed in. */
function tabRoutes(app: App, service: Service): void {
  const { db, resources } = service
  const { ViewTabs, ViewTabsUpdate, TabsParams } = tabSchemas(resources)
  const lists = listsOf(resources)
  const path = '/api/v1/view-tabs'
  const kind = { path, params: TabsParams, reads: any_session, noun: 'list' }
  const tabs = endpoints(app, service, kind)

  operation(
    app,
    {
      method: 'GET',
      path,
      id: 'listViewTabs',
      scope: any_session,
      summary: 'List the own tabs of all lists',
      description:
        'On one page. A view that is gone, or that you no longer see, may still be named: ignore it.',
      answers: { 200: List(ViewTabs) },
    },
    async ({ access }) => onePage(await listTabs(db, access, lists)),
  )
  tabs.read({ summary: 'Read the own tabs of a list', view: ViewTabs }, async ({ access, params }) => {
    const known = lists.filter((one) => one === params.list)
    return (await listTabs(db, access, known))[0] ?? null
  })
  tabs.change(
    {
      summary: 'Order the own tabs of a list, or choose its default',
      description: 'Only for yourself. The audit log has no entry of it.',
      body: ViewTabsUpdate,
      view: ViewTabs,
    },
    async (tx, context, sent) => ({ record: await changeTabs(tx, context, lists, sent) }),
  )
}
