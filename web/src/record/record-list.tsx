import { Button } from '@mantine/core'
import { keepPreviousData, type UseQueryOptions, useQuery } from '@tanstack/react-query'
import { useCallback, useEffect, useMemo, useState } from 'react'
import { useCommands } from '../app/commands.ts'
import { useFormats } from '../app/formats.ts'
import { ProblemNote } from '../app/problems.tsx'
import { useTexts } from '../texts/texts.ts'
import { BulkBar } from '../ui/bulk-bar.tsx'
import { Empty } from '../ui/empty.tsx'
import { type Filter, ListFilters } from '../ui/filters.tsx'
import { dated, isId, useCreating, useListView } from '../ui/list-view.ts'
import { useOpening } from '../ui/opening.ts'
import { Page } from '../ui/page.tsx'
import { SidePanel } from '../ui/panel.tsx'
import { type Column, DataTable } from '../ui/table.tsx'
import { ColumnsMenu, useColumns } from './columns.tsx'
import './related.css'
import { queryOf } from './list-query.ts'
import { ViewsMenu } from './views.tsx'

type Meta = { current_page?: number; last_page?: number; per_page?: number; total?: number }
type Listed<Row> = { data: Row[]; meta: Meta }

/** What a bulk action does first: selects nothing any more; before rows go, it also closes the one that is open. */
export type BulkActions = { onDone: () => void; onLeave: () => unknown }

type Props<Row> = {
  list: 'contacts' | 'companies' | 'deals'
  title: string
  columns: Column<Row>[]
  /** Constant, beside the component. */
  filter_names: readonly string[]
  /** The order where the address names none; left out: that of the API. */
  default_sort?: string
  /** Before the saved views, such as the switch to another way of showing the same. */
  before_views?: React.ReactNode
  filters: Filter[]
  listQuery: (query: Record<string, unknown>) => unknown
  nameOf: (row: Row) => string
  empty: string
  /** What the button for a new record says; left out for those who may only read. */
  create?: string | undefined
  createDialog: (opened: boolean, onClose: () => void, onCreated: (id: number) => void) => React.ReactNode
  record: (id: number, onClose: () => unknown) => React.ReactNode
  /** What can be done with the selected rows; left out for those who may only read. */
  bulk?: ((rows: Row[], actions: BulkActions) => React.ReactNode) | undefined
}

/** A list of records as the address describes it, with the record that is open beside it, and what can be done with many. */
export function RecordListPage<Row extends { id: number }>(props: Props<Row>) {
  const { list, title, filter_names, filters, listQuery, nameOf, empty, create, bulk } = props
  const t = useTexts()
  const { zone } = useFormats()
  const sorts = useMemo(() => [...dated, ...props.columns.flatMap(({ sort }) => sort ?? [])], [props.columns])
  const view = useListView(filter_names, props.default_sort, sorts)
  const columns = useColumns(list, props.columns)
  const [creating, setCreating] = useCreating()
  const opening = useOpening(creating)
  const query = useMemo(() => queryOf(view, zone), [view, zone])
  const { data, error, refetch } = useQuery({
    ...(listQuery(query) as UseQueryOptions<Listed<Row>>),
    placeholderData: keepPreviousData,
  })
  const rows = data?.data
  const [selected, setSelected] = useSelection(rows)
  const chosen = rows?.filter(({ id }) => selected.has(id)) ?? []
  const { setOpen } = view
  const close = useCallback(() => setOpen(null), [setOpen])
  const open_row = rows?.find(({ id }) => String(id) === view.open)

  useCommands(
    create
      ? [{ id: `create-${list}`, label: create, group: 'create', keys: 'c', run: () => setCreating(true) }]
      : [],
  )
  // A page that is no longer there, since records have gone: the last one that is.
  const last_page = data?.meta.last_page ?? 1
  const { page, setPage } = view
  useEffect(() => {
    if (rows?.length === 0 && page > last_page) setPage(last_page)
  }, [rows, page, last_page, setPage])

  return (
    <Page
      title={title}
      count={data?.meta.total}
      middle={
        <>
          {props.before_views}
          <ViewsMenu list={list} />
          <ListFilters view={view} filters={filters} />
        </>
      }
      actions={
        <>
          <ColumnsMenu columns={columns} />
          {create && <Button onClick={() => setCreating(true)}>{create}</Button>}
        </>
      }
    >
      {error && <ProblemNote error={error} onRetry={refetch} />}
      {(data || !error) && (
        <DataTable
          label={title}
          columns={columns.shown}
          rows={rows}
          meta={data?.meta}
          nameOf={nameOf}
          hrefOf={({ id }) => `/${list}/${id}`}
          onOpen={({ id }) => setOpen(id)}
          open_id={view.open}
          sort={view.sort}
          onSort={view.setSort}
          onPage={setPage}
          {...(bulk && { selected, onSelect: setSelected as never })}
          empty={
            view.filtered ? (
              <Empty
                text={t.app.nothing_found}
                action={t.app.clear_filters}
                onAction={() => view.clearFilters()}
              />
            ) : (
              <Empty text={empty} {...(create && { action: create, onAction: () => setCreating(true) })} />
            )
          }
        />
      )}
      {bulk && (
        <BulkBar count={chosen.length} onClear={() => setSelected(new Set())}>
          {bulk(chosen, {
            onDone: () => setSelected(new Set()),
            onLeave: () => chosen.some(({ id }) => String(id) === view.open) && close(),
          })}
        </BulkBar>
      )}
      {isId(view.open) && (
        <SidePanel label={open_row ? nameOf(open_row) : title} href={`/${list}/${view.open}`} onClose={close}>
          {props.record(Number(view.open), close)}
        </SidePanel>
      )}
      {create &&
        props.createDialog(
          creating,
          () => setCreating(false),
          (id) => opening.over || setOpen(id),
        )}
    </Page>
  )
}

const none: ReadonlySet<number> = new Set()

/** The selected ids; what is no longer on the page is no longer selected. */
function useSelection<Row extends { id: number }>(rows: Row[] | undefined) {
  const [selected, setSelected] = useState<ReadonlySet<number>>(none)
  useEffect(() => {
    if (!rows) return
    setSelected((before) => {
      const kept = rows.flatMap(({ id }) => (before.has(id) ? [id] : []))
      return kept.length === before.size ? before : new Set(kept)
    })
  }, [rows])
  return [selected, setSelected] as const
}
