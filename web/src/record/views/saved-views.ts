import { type QueryClient, queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { api, dataOf, type Schemas } from '../../api/client.ts'
import { readAgain, shownAhead } from '../../api/read-again.ts'
import type { Search } from '../../app/addresses.ts'

export type View = Schemas['View']
export type List = View['list']
type Tabs = Schemas['ViewTabs']
type TabChanges = Partial<Pick<Tabs, 'tabs' | 'default_tab'>>

// The change stream says when the views are stale, so that a list need not read them again.
const staleTime = Number.POSITIVE_INFINITY
const viewsQuery = queryOptions({
  queryKey: ['views', 'all'],
  queryFn: ({ signal }) => dataOf(api.GET('/api/v1/views', { signal })),
  staleTime,
})
const tabsQuery = queryOptions({
  queryKey: ['views', 'tabs'],
  queryFn: ({ signal }) => dataOf(api.GET('/api/v1/view-tabs', { signal })),
  staleTime,
})

// Parameters of the address that are not part of a view. The date is the place in the calendar.
const momentary = ['page', 'open', 'create', 'tab', 'cursor', 'date', 'saved']

/** The view in the address, as text that does not depend on the order of parameters. */
export function queryOf(address: Search, without: readonly string[] = []): string {
  const parts = Object.entries(address).flatMap(([name, value]): [string, string][] =>
    value && !momentary.includes(name) && !without.includes(name) ? [[name, value]] : [],
  )
  return new URLSearchParams(parts.sort(([a], [b]) => (a < b ? -1 : 1))).toString()
}

export const addressOf = ({ query }: View): Search => Object.fromEntries(new URLSearchParams(query))

/** The views of a list in the person's order. Views without a place follow, the oldest first. */
function inOrder(views: readonly View[], list: List, ids: readonly string[]): View[] {
  const placeOf = ({ id }: View) => (ids.includes(id) ? ids.indexOf(id) : ids.length)
  // The service lists the newest first.
  const of_list = views.filter((view) => view.list === list).toReversed()
  return of_list.sort((a, b) => placeOf(a) - placeOf(b))
}

const tabsOf = (tabs: readonly Tabs[] | undefined, list: List) => tabs?.find((one) => one.list === list)

/** The saved views of a list in the person's order, and the default tab: `all`, `mine` or the id of a view. */
export function useSavedViews(list: List, enabled: boolean) {
  const views = useQuery({ ...viewsQuery, enabled })
  const tabs = useQuery({ ...tabsQuery, enabled })
  const own = tabsOf(tabs.data, list)
  // Both at once: the tabs must not change their places.
  const known = views.data && !tabs.isPending ? inOrder(views.data, list, own?.tabs ?? []) : []
  const wanted = own?.default_tab ?? 'all'
  const exists = wanted === 'mine' || known.some(({ id }) => id === wanted)
  return { views: known, default_tab: exists ? wanted : 'all', error: views.error ?? tabs.error }
}

/** The address of the default tab of a list; null for all records. */
export async function defaultAddress(client: QueryClient, list: List): Promise<Search | null> {
  const cached = { revalidateIfStale: true }
  const [tabs, views] = await Promise.all([
    client.ensureQueryData({ ...tabsQuery, ...cached }),
    client.ensureQueryData({ ...viewsQuery, ...cached }),
  ])
  const wanted = tabsOf(tabs, list)?.default_tab
  if (wanted === 'mine') return { owner_id: 'me' }
  const view = views.find(({ id }) => id === wanted)
  return view ? { ...addressOf(view), saved: view.id } : null
}

// One at a time: each sends the whole order, and the last one must win.
let sending: Promise<unknown> = Promise.resolve()

/** Changes the person's order or default of a list. The page shows it at once. */
export function useChangeTabs(list: List): (changes: TabChanges) => Promise<void> {
  const client = useQueryClient()
  const send = (body: TabChanges) =>
    dataOf(api.PATCH('/api/v1/view-tabs/{list}', { params: { path: { list } }, body }))
  return async (changes) => {
    await client.cancelQueries({ queryKey: tabsQuery.queryKey })
    client.setQueryData(tabsQuery.queryKey, (all) =>
      all?.map((one) => (one.list === list ? { ...one, ...changes } : one)),
    )
    try {
      await shownAhead(['views'], () => {
        sending = sending.catch(() => {}).then(() => send(changes))
        return sending
      })
    } finally {
      await readAgain(client, ['views'])
    }
  }
}
