import { lazyRouteComponent } from '@tanstack/react-router'
import { Suspense } from 'react'
import type { Search } from '../app/addresses.ts'
import { Waiting } from '../app/fallback-pages.tsx'
import { whenIdle } from '../app/idle.ts'
import { loaded } from '../app/loading.ts'
import { useAddress } from '../ui/list-view.ts'
import { ViewSwitch } from './view-switch.tsx'

const board = () => import('./board-page.tsx')
const table = () => import('./deals-table.tsx')
const BoardPage = lazyRouteComponent(() => loaded(board()), 'BoardPage')
const DealsTable = lazyRouteComponent(() => loaded(table()), 'DealsTable')
whenIdle(table)
whenIdle(board)

/** Loads the view that an address names, so that the page is drawn with it. */
export const loadView = async ({ view }: Search<'/deals'>): Promise<void> =>
  (view === 'table' ? DealsTable : BoardPage).preload?.()

/** The deals, as a board or as a table, by the address. */
export function DealsPage() {
  const { address } = useAddress()
  return (
    <Suspense fallback={<Waiting />}>
      {address.view === 'table' ? <DealsTable switcher={<ViewSwitch />} /> : <BoardPage />}
    </Suspense>
  )
}
