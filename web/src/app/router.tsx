import type { QueryClient } from '@tanstack/react-query'
import {
  type AsyncRouteComponent,
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
} from '@tanstack/react-router'
import { Problem } from '../api/client.ts'
import { hasEarlyReads } from '../api/early-reads.ts'
import { all_kinds } from '../kinds.ts'
import { isListed, isMerged, type Kind, type MergedKind } from '../record/kinds.ts'
import { defaultAddress } from '../record/views/saved-views.ts'
import type { OtherRoute, Search } from './addresses.ts'
import { Crashed, FirstWaiting, NotFound, Waiting } from './fallback-pages.tsx'
import { Frame } from './frame.tsx'
import { redirect } from './link.ts'
import { keepUpToDate } from './live.ts'
import { loaded } from './loading.ts'
import { readRecordAhead } from './read-ahead.ts'
import { hadSession, sessionQuery } from './session.ts'

type Opening = {
  context: { client: QueryClient }
  location: { pathname: string }
  search: Search
  cause: 'preload' | 'enter' | 'stay'
}

const root = createRootRouteWithContext<{ client: QueryClient }>()({ component: Outlet })

// All pages are in the frame and need a session. Other pages are a document of their own (people/open.ts).
const frame = createRoute({
  getParentRoute: () => root,
  id: 'frame',
  component: Frame,
  pendingComponent: FirstWaiting,
  beforeLoad: async ({ context, location, matches }) => {
    // Load the page's chunk while the session is read. The page itself reports a failure.
    // Only the last match is a page: the root and the frame have the path of Home.
    pages[matches.at(-1)?.fullPath ?? '']?.preload?.()
    try {
      await keepUpToDate(context.client, await context.client.ensureQueryData(sessionQuery))
    } catch (error) {
      if (!(error instanceof Problem) || error.status !== 401) throw error
      const search = new URLSearchParams({
        ...(location.pathname !== '/' && { to: location.href }),
        ...(hadSession() && { ended: '1' }),
      })
      window.location.replace(`/sign-in?${search}`)
      // The page is left.
      await new Promise(() => {})
    }
  },
})

/** The pages of a kind of record: the list, and one record by the id in its address. */
const recordPages = ({ path, list, record, kind }: Kind) => ({
  ...(isMerged(kind) && mergePages(kind, path)),
  [path]: lazyRouteComponent(async () => ({ default: await loaded(list()) })),
  [`${path}/$id`]: lazyRouteComponent(async () => {
    const [Record, { RecordPage }] = await Promise.all([
      loaded(record()),
      loaded(import('../record/page/record-page.tsx')),
    ])
    return { default: () => <RecordPage list={path} Record={Record} /> }
  }),
})

/** The duplicates of a kind, and the page that merges them. */
const mergePages = (kind: MergedKind, path: string) => ({
  [`${path}/duplicates`]: lazyRouteComponent(async () => {
    const { DuplicatesPage } = await loaded(import('../merges/duplicates-page.tsx'))
    return { default: () => <DuplicatesPage kind={kind} /> }
  }),
  [`${path}/$id/merge`]: lazyRouteComponent(async () => {
    const { MergePage } = await loaded(import('../merges/merge-page.tsx'))
    return { default: () => <MergePage kind={kind} /> }
  }),
})

/** Loads the program of Home. Unlike the way to a page, it does not reload the app when the file is missing. */
export const loadHome = () => import('../home/home-page.tsx')
const home = () => loaded(loadHome())

// A page waits for what may take long no longer than this: a slow service must not hold it up.
const longest_wait_ms = 300
const withinLimit = (read?: Promise<unknown>) =>
  Promise.race([read, new Promise((resolve) => setTimeout(resolve, longest_wait_ms))])

// Each chunk is loaded when its page is first shown.
const pageOf = <Part extends Record<string, unknown>>(load: () => Promise<Part>, name: keyof Part & string) =>
  lazyRouteComponent(() => loaded(load()), name)
const other_pages: Record<OtherRoute, AsyncRouteComponent<object>> = {
  '/': lazyRouteComponent(home, 'HomePage'),
  '/notifications': pageOf(() => import('../notifications/notifications-page.tsx'), 'NotificationsPage'),
  '/reports': pageOf(() => import('../reports/reports-page.tsx'), 'ReportsPage'),
  '/trash': pageOf(() => import('../trash/trash-page.tsx'), 'TrashPage'),
  '/audit-log': pageOf(() => import('../trash/audit-page.tsx'), 'AuditPage'),
  '/settings': pageOf(() => import('../settings/settings-page.tsx'), 'SettingsPage'),
  '/settings/profile': pageOf(() => import('../settings/profile-page.tsx'), 'ProfilePage'),
  '/settings/workspace': pageOf(() => import('../settings/workspace-page.tsx'), 'WorkspacePage'),
  '/settings/members': pageOf(() => import('../settings/members-page.tsx'), 'MembersPage'),
  '/settings/imports': pageOf(() => import('../imports/imports-page.tsx'), 'ImportsPage'),
  '/settings/imports/new': pageOf(() => import('../imports/new-import-page.tsx'), 'NewImportPage'),
  '/settings/imports/$id': pageOf(() => import('../imports/import-page.tsx'), 'ImportPage'),
  '/settings/fields': pageOf(() => import('../settings/fields-page.tsx'), 'FieldsPage'),
  '/settings/stages': pageOf(() => import('../settings/stages-page.tsx'), 'StagesPage'),
  '/settings/keys': pageOf(() => import('../settings/keys-page.tsx'), 'KeysPage'),
  '/settings/webhooks': pageOf(() => import('../webhooks/webhooks-page.tsx'), 'WebhooksPage'),
  '/settings/webhooks/$id': pageOf(() => import('../webhooks/webhook-page.tsx'), 'WebhookPage'),
  '/settings/deliveries': pageOf(() => import('../webhooks/deliveries-page.tsx'), 'DeliveriesPage'),
  '/settings/mail': pageOf(() => import('../mail/mails-page.tsx'), 'MailsPage'),
  '/settings/mail/$id': pageOf(() => import('../mail/mail-page.tsx'), 'MailPage'),
  '/settings/deliveries/$id': pageOf(() => import('../webhooks/delivery-page.tsx'), 'DeliveryPage'),
}

/** The pages of the frame. */
const pages: Record<string, AsyncRouteComponent<object>> = Object.assign(
  {},
  other_pages,
  ...all_kinds.map(recordPages),
)
const page_routes = Object.entries(pages).map(([path, component]) =>
  createRoute({ getParentRoute: () => frame, path, component, beforeLoad: prepare }),
)

/** Asks for the data of Home. Resolves when Home can be drawn once, with its data, or when that takes too long. */
async function readHomeAhead(client: QueryClient): Promise<void> {
  // The page itself reports a failure.
  const page = await home().catch(() => null)
  const read = page?.readHome(client)
  // At the start of the app, the data is on its way since the document has come.
  if (hasEarlyReads()) await read?.top
  await withinLimit(Promise.all([read?.top, read?.figures]))
}

/**
 * Prepares a page. A list that is opened without a query opens with its default view. A link under the pointer loads the
 * program of its page, and the saved views, which decide its address. It reads no records: most such links are not followed.
 */
async function prepare({ context: { client }, location, search, cause }: Opening): Promise<void> {
  const enters = cause === 'enter'
  if (enters) readRecordAhead(client, location.pathname)
  if (enters && location.pathname === '/') return readHomeAhead(client)
  const kind = all_kinds.find(({ path }) => path === location.pathname)
  // On the page itself, an address without a query shows all records: the person has removed the filters.
  if (!kind || cause === 'stay') return
  const is_plain = Object.keys(search).every((name) => name === 'create')
  if (isListed(kind) && is_plain) {
    // The page shows why the views cannot be read.
    const address = await defaultAddress(client, kind.kind).catch(() => null)
    if (address) throw redirect({ to: kind.path, search: { ...address, ...search }, replace: true })
  }
  // The page itself reports a failure.
  const rows = enters && is_plain && kind.firstRows?.(client).catch(() => null)
  const view = kind.loadView?.(search).catch(() => null)
  // As for Home.
  if (hasEarlyReads()) await rows
  await view
}

const tree = root.addChildren([frame.addChildren(page_routes)])

/** The router. Search parameters are plain text, so that addresses are readable. */
export function createAppRouter(client: QueryClient) {
  return createRouter({
    routeTree: tree,
    context: { client },
    parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
    stringifySearch: (search: Search) => {
      const given = Object.entries(search).filter((one): one is [string, string] => one[1] !== undefined)
      const text = new URLSearchParams(given).toString()
      return text && `?${text}`
    },
    defaultPreload: 'intent',
    defaultPendingMs: 300,
    // Show a page as soon as it is loaded, without a minimum time for the loader.
    defaultPendingMinMs: 0,
    defaultPendingComponent: Waiting,
    defaultErrorComponent: Crashed,
    defaultNotFoundComponent: NotFound,
    scrollRestoration: false,
  })
}
