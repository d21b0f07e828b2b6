import { lazy, Suspense } from 'react'
import { Waiting } from '../app/fallback-pages.tsx'
import { whenIdle } from '../app/idle.ts'
import { loaded } from '../app/loading.ts'
import { useAddress } from '../ui/list-view.ts'
import { ViewSwitch } from './view-switch.tsx'

const board = () => import('./board-page.tsx')
const table = () => import('./deals-table.tsx')
const BoardPage = lazy(async () => ({ default: (await loaded(board())).BoardPage }))
const DealsTable = lazy(async () => ({ default: (await loaded(table())).DealsTable }))
whenIdle(table)
whenIdle(board)

/** The deals, as a board or as a table, by the address. */
export function DealsPage() {
  const { address } = useAddress()
  return (
    <Suspense fallback={<Waiting />}>
      {address.view === 'table' ? <DealsTable before_views={<ViewSwitch />} /> : <BoardPage />}
    </Suspense>
  )
}
