import { Button } from '@mantine/core'
import { TrashIcon } from '@primer/octicons-react'
import { useCallback, useMemo } from 'react'
import { useCommands } from '../app/commands.ts'
import { useFormats } from '../app/formats.ts'
import { useTexts } from '../texts/texts.ts'
import { BulkBar } from '../ui/bulk-bar.tsx'
import { Empty } from '../ui/empty.tsx'
import { type Filter, ListFilters } from '../ui/filters.tsx'
import { type ListPage, type ListQuery, ListTable, useListPage } from '../ui/list-page.tsx'
import { dated, isId, useCreating, useListView } from '../ui/list-view.ts'
import { useOpening } from '../ui/opening.ts'
import { Page } from '../ui/page.tsx'
import { SidePanel } from '../ui/panel.tsx'
import type { Column } from '../ui/table.tsx'
import { useBulk } from './bulk.tsx'
import { ColumnsMenu, useColumns } from './columns.tsx'
import { queryOf } from './list-query.ts'
import { ViewsMenu } from './views.tsx'

/** What can be done with the selected rows. */
type Bulk<Row extends { id: number }> = {
  actions: (page: ListPage<Row>) => React.ReactNode
  remove: (id: number) => Promise<unknown>
  restore: (id: number) => Promise<unknown>
  /** How many were deleted, as the toast says it. */
  deleted: (n: number) => string
  /** The first parts of the queries' keys that are old then. */
  touched: readonly string[]
}

type Props<Row extends { id: number }> = {
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
  listQuery: (query: Record<string, unknown>) => ListQuery<Row>
  nameOf: (row: Row) => string
  empty: string
  /** What the button for a new record says; left out for those who may only read. */
  create?: string | undefined
  createDialog: (opened: boolean, onClose: () => void, onCreated: (id: number) => void) => React.ReactNode
  record: (id: number, onClose: () => unknown) => React.ReactNode
  /** Left out for those who may only read. */
  bulk?: Bulk<Row> | undefined
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
  const page = useListPage(listQuery(query), view)
  const { setOpen } = view
  const close = useCallback(() => setOpen(null), [setOpen])
  const open_row = page.rows?.find(({ id }) => String(id) === view.open)
  const start = useBulk()
  const remove = ({ remove, restore, deleted, touched }: Bulk<Row>) =>
    page.act(async (rows) => {
      // Of what has gone nothing can be read any more.
      if (rows.some(({ id }) => String(id) === view.open)) await close()
      return start({
        ...{ items: rows, nameOf, message: deleted, refresh: touched },
        work: ({ id }) => remove(id),
        undo: ({ id }) => restore(id),
      })
    })

  useCommands(
    create
      ? [{ id: `create-${list}`, label: create, group: 'create', keys: 'c', run: () => setCreating(true) }]
      : [],
  )

  return (
    <Page
      title={title}
      count={page.meta?.total}
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
      <ListTable
        label={title}
        columns={columns.shown}
        page={page}
        selectable={bulk !== undefined}
        nameOf={nameOf}
        hrefOf={({ id }) => `/${list}/${id}`}
        onOpen={({ id }) => setOpen(id)}
        open_id={view.open}
        sort={view.sort}
        onSort={view.setSort}
        empty={
          view.filtered ? (
            <Empty text={t.app.nothing_found} action={t.app.clear_filters} onAction={view.clearFilters} />
          ) : (
            <Empty text={empty} {...(create && { action: create, onAction: () => setCreating(true) })} />
          )
        }
      />
      {bulk && (
        <BulkBar count={page.chosen.length} onClear={page.clear}>
          {bulk.actions(page)}
          <Button variant="default" leftSection={<TrashIcon size={14} />} onClick={() => remove(bulk)}>
            {t.app.delete}
          </Button>
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
