import { lazyRouteComponent } from '@tanstack/react-router'
import { Suspense } from 'react'
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

/** Loads the view that the browser's address names, so that the page is drawn with it. */
export async function loadView(): Promise<void> {
  const view = new URLSearchParams(window.location.search).get('view')
  await (view === 'table' ? DealsTable : BoardPage).preload?.()
}

/** The deals, as a board or as a table, by the address. */
export function DealsPage() {
  const { address } = useAddress()
  return (
    <Suspense fallback={<Waiting />}>
      {address.view === 'table' ? <DealsTable before_views={<ViewSwitch />} /> : <BoardPage />}
    </Suspense>
  )
}
