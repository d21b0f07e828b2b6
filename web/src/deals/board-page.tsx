import { ActionIcon, Button, Text } from '@mantine/core'
import { SortDescIcon } from '@primer/octicons-react'
import { useCallback, useMemo, useState } from 'react'
import { useCommands } from '../app/commands.ts'
import { laterDialog } from '../app/contained.tsx'
import { useFormats } from '../app/formats.ts'
import { useMay } from '../app/session.ts'
import { useEditFocused } from '../record/fields/edit-first.ts'
import { useMineCommand, useOwnerFilter } from '../record/fields/owner.tsx'
import { useNames } from '../record/kinds.ts'
import { ImportOffer } from '../record/list/import-offer.tsx'
import { ListMenu } from '../record/list/list-menu.tsx'
import { useReferenceFilters } from '../record/list/list-parts.tsx'
import { lateRecord } from '../record/page/late-record.tsx'
import { ViewTabs } from '../record/views/views.tsx'
import { useTexts } from '../texts/texts.ts'
import { Empty } from '../ui/empty.tsx'
import { type Filter, useListFilters } from '../ui/filters.tsx'
import { Menu } from '../ui/floating.tsx'
import { isId, type ListView, useCreating, useListView } from '../ui/list-view.ts'
import { MenuChoice } from '../ui/menu-choice.tsx'
import { NoMatches } from '../ui/no-matches.tsx'
import { Page } from '../ui/page.tsx'
import { SidePanel } from '../ui/panel.tsx'
import { Board, focusedCard } from './board.tsx'
import { type BoardFilter, type BoardOrder, board_orders, usePipeline } from './columns.ts'
import { references } from './deals.ts'
import { useMoves } from './moves.ts'
import type { Stage } from './stages.ts'
import { ViewSwitch } from './view-switch.tsx'

export { readBoard } from './columns.ts'

const CreateDeal = laterDialog(async () => (await import('./create-deal.tsx')).CreateDeal)
const DealRecord = lateRecord(async () => (await import('./deal-record.tsx')).DealRecord)

/** The filters of the board: those of its sums. */
function useBoardFilters(): Filter[] {
  const by_reference = useReferenceFilters('deals', references)
  const by_owner = useOwnerFilter('deals')
  return useMemo(
    () => [...by_reference.map((filter) => ({ ...filter, single: true, nullable: false })), by_owner],
    [by_reference, by_owner],
  )
}

/** The deals as a board. */
export function BoardPage() {
  const t = useTexts()
  const names = useNames('deals')
  const [creates, setCreates] = useCreating()
  const [stage, setStage] = useState<Stage>('new_lead')
  function create(stage: Stage = 'new_lead') {
    setStage(stage)
    setCreates(true)
  }
  const writes = useMay()('deals:write')
  const run = () => create()
  useCommands([{ id: 'create-deals', label: names.create, group: 'create', keys: 'c', run }], writes)
  const formats = useFormats()
  const filters = useBoardFilters()
  const view = useListView(filters, '-updated_at')
  const filtering = useListFilters({ view, filters, search: false })
  const sort = board_orders.find((one) => one === view.sort) ?? '-updated_at'
  useMineCommand(view)
  useEditFocused(focusedCard, view, writes)
  const filter: BoardFilter = view.filters
  const moving = useMoves()
  const { report } = usePipeline(filter, moving.moves, moving.held)
  const total = report?.total_open
  const { setOpen } = view
  const close = useCallback(() => setOpen(null), [setOpen])
  const count = report?.stages.reduce((sum, one) => sum + one.count, 0)
  return (
    <Page
      title={names.many}
      count={count}
      switcher={<ViewSwitch />}
      middle={
        <>
          {filtering.line}
          <OrderMenu sort={sort} view={view} />
          {total && (
            <Text size="sm" c="dimmed" className="numbers board-sums">
              {t.deals.open_sum({ sum: formats.sum(total.value) })}
              {' · '}
              <span title={t.deals.weighted_hint}>
                {t.deals.weighted_sum({ sum: formats.sum(total.weighted_value) })}
              </span>
            </Text>
          )}
        </>
      }
      tabs={<ViewTabs list="deals" />}
      below={filtering.chips}
      actions={
        <>
          <ListMenu kind="deals" query={{ ...filter, sort }} />
          {writes && <Button onClick={() => create()}>{names.create}</Button>}
        </>
      }
    >
      {count === 0 && !moving.held && view.filtered ? (
        <NoMatches many={names.in_sentence.many} view={view} filters={filters} />
      ) : count === 0 && !moving.held ? (
        <Empty
          text={names.empty ?? names.none}
          {...(writes && { action: names.create, onAction: () => create() })}
          beside={<ImportOffer kind="deals" />}
        />
      ) : (
        <Board
          filter={filter}
          sort={sort}
          moving={moving}
          report={report}
          open_id={view.open}
          onOpen={({ id }) => view.setOpen(id)}
          onClose={close}
          onCreate={create}
        />
      )}
      {isId(view.open) && (
        <SidePanel label={names.one} href={`/deals/${view.open}`} onClose={close}>
          <DealRecord key={view.open} id={Number(view.open)} panel onLeave={close} />
        </SidePanel>
      )}
      {writes && <CreateDeal opened={creates} onClose={() => setCreates(false)} initial={{ stage }} />}
    </Page>
  )
}

function OrderMenu({ sort, view }: { sort: BoardOrder; view: ListView }) {
  const t = useTexts()
  const label = `${t.deals.order}: ${t.deals.orders[sort]}`
  return (
    <Menu position="bottom-start">
      <Menu.Target>
        <ActionIcon variant="default" size={30} aria-label={label} title={label}>
          <SortDescIcon />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{t.deals.order}</Menu.Label>
        {board_orders.map((order) => (
          <MenuChoice
            key={order}
            value={order}
            chosen={order === sort}
            onChoose={() => view.setSort(order === '-updated_at' ? '' : order)}
          >
            {t.deals.orders[order]}
          </MenuChoice>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
