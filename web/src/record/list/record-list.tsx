import { Button } from '@mantine/core'
import { TrashIcon } from '@primer/octicons-react'
import { type ComponentType, type ReactNode, useCallback, useMemo } from 'react'
import type { Aborted } from '../../api/client.ts'
import { type QueryOf, type RowOf, recordApi } from '../../api/record-api.ts'
import { useCommands } from '../../app/commands.ts'
import { useFormats } from '../../app/formats.ts'
import { useMay } from '../../app/session.ts'
import { useTexts } from '../../texts/texts.ts'
import { BulkBar } from '../../ui/bulk-bar.tsx'
import { Empty } from '../../ui/empty.tsx'
import { type Filter, useListFilters } from '../../ui/filters.tsx'
import { focusedRow } from '../../ui/focus.ts'
import { type ListPage, type ListQuery, ListTable, useListPage } from '../../ui/list-page.tsx'
import { isId, useCreating, useListView } from '../../ui/list-view.ts'
import { NoMatches } from '../../ui/no-matches.tsx'
import { useOpening } from '../../ui/opening.ts'
import { Page } from '../../ui/page.tsx'
import { SidePanel } from '../../ui/panel.tsx'
import type { Column } from '../../ui/table.tsx'
import { useEditFocused } from '../fields/edit-first.ts'
import { type Owned, useMineCommand } from '../fields/owner.tsx'
import {
  type CreateProps,
  type Kind,
  type ListedKind,
  type OwnedKind,
  type RecordProps,
  useKind,
  useNames,
} from '../kinds.ts'
import { useListLog } from '../page/log.tsx'
import { MergeButton } from '../page/merges.tsx'
import { ViewTabs } from '../views/views.tsx'
import { useListAssign } from './assign.tsx'
import { useBulk } from './bulk.tsx'
import { BulkTags } from './bulk-tags.tsx'
import { ColumnsMenu, useColumns } from './columns.tsx'
import { useCustomFilters, useDefinedColumns, useSorts, type WithCustomFields } from './custom-lists.tsx'
import { type Grouping, useGrouping, useGroupRows } from './groupings.tsx'
import { ImportOffer } from './import-offer.tsx'
import { ListMenu } from './list-menu.tsx'
import { queryOf } from './list-query.ts'

type Props<K extends ListedKind, Row extends Owned> = {
  kind: K & OwnedKind
  columns: Column<Row>[]
  filters: Filter[]
  groupings: readonly Grouping[]
  /** The order if the address has none. Left out: the API's default. */
  default_sort?: string
  /** The switch between table and board. */
  switcher?: ReactNode
  /** Left out: the API's list. */
  listQuery?: (query: QueryOf<K>) => ListQuery<Row>
  /** The dialog for a new record. */
  Create: ComponentType<CreateProps & { onCreated?: (record: { id: number }) => void }>
  /** Whether a new record opens beside the list. */
  opens_created?: boolean
  Record: ComponentType<RecordProps>
  /** The bulk actions beside deleting, if there are any. */
  bulkActions?: (page: ListPage<Row>) => ReactNode
}

/**
 * The list page of a kind: table, filters, saved views, bulk actions and side panel. The address holds its
 * state.
 */
export function RecordListPage<K extends ListedKind, Row extends Owned & WithCustomFields = RowOf<K> & Owned>(
  props: Props<K, Row>,
) {
  const { kind, Create, Record, opens_created = true } = props
  const t = useTexts()
  const { zone } = useFormats()
  const names = useNames(kind)
  const { path, nameOf }: Kind = useKind(kind)
  const nameOfRow = nameOf as unknown as (row: Row) => string
  const writes = useMay()(`${kind}:write`)
  const api = useMemo(() => recordApi(kind), [kind])
  const by_custom_field = useCustomFilters(kind)
  const filters = useMemo(() => [...props.filters, ...by_custom_field], [props.filters, by_custom_field])
  const defined = useDefinedColumns(kind)
  const all_columns = useMemo(() => [...props.columns, ...defined], [props.columns, defined])
  const sorts = useSorts(kind, props.columns)
  const view = useListView(filters, props.default_sort, sorts)
  const columns = useColumns(kind, all_columns)
  const filtering = useListFilters({ view, filters, custom: true })
  useMineCommand(view)
  const [creating, setCreating] = useCreating()
  const opening = useOpening(creating)
  const query = useMemo(() => queryOf(view, filters, zone) as QueryOf<K>, [view, filters, zone])
  const listQuery = (props.listQuery ?? api.listQuery) as (query: QueryOf<K>) => ListQuery<Row>
  const whole = {
    key: JSON.stringify({ ...query, page: undefined }),
    read: (place: object, by: Aborted) => listQuery({ ...query, ...place }).queryFn(by),
  }
  const grouped = useGrouping(props.groupings)
  const rowsQuery = useCallback(
    (filter: object, page: number) => listQuery({ ...query, ...filter, page }),
    [listQuery, query],
  )
  const page = useListPage(listQuery(query), view, whole, useGroupRows(kind, grouped, query, rowsQuery))
  const { setOpen } = view
  const close = useCallback(() => setOpen(null), [setOpen])
  const open_row = page.rows?.find(({ id }) => String(id) === view.open)
  const bulk = useBulk()
  const remove = () =>
    page.act(async (rows) => {
      // A deleted record cannot be read.
      if (rows.some(({ id }) => String(id) === view.open)) await close()
      return bulk({
        kind,
        items: rows,
        nameOf: nameOfRow,
        message: (n) => t.app.deleted({ what: names.counted({ n }) }),
        work: 'delete',
        undo: 'restore',
      })
    })
  const assign = useListAssign<Row>(kind, page, view.open)
  const log = useListLog(kind, () => focusedRow(page.rows))
  useEditFocused(() => focusedRow(page.rows)?.id, view, writes)
  const create = () => setCreating(true)
  const create_action = writes && { action: names.create, onAction: create }

  useCommands(
    [{ id: `create-${kind}`, label: names.create, group: 'create', keys: 'c', run: create }],
    writes,
  )

  return (
    <Page
      title={names.many}
      count={page.meta?.total}
      switcher={props.switcher}
      middle={filtering.line}
      tabs={<ViewTabs list={kind} />}
      below={filtering.chips}
      actions={
        <>
          <ColumnsMenu columns={columns} />
          <ListMenu kind={kind} query={query} grouped={grouped} />
          {writes && <Button onClick={create}>{names.create}</Button>}
        </>
      }
    >
      <ListTable
        label={names.many}
        columns={columns.shown}
        onMoveColumn={columns.move}
        onColumnWidth={columns.resize}
        page={page}
        {...(grouped.current && { groupName: grouped.current.nameOf })}
        selectable={writes}
        nameOf={nameOfRow}
        hrefOf={({ id }) => `${path}/${id}`}
        onOpen={({ id }) => setOpen(id)}
        open_id={view.open}
        sort={view.sort}
        onSort={view.setSort}
        empty={
          view.filtered ? (
            <NoMatches many={names.in_sentence.many} view={view} filters={filters} />
          ) : (
            <Empty
              text={(writes && names.empty) || names.none}
              {...create_action}
              beside={<ImportOffer kind={kind} />}
            />
          )
        }
      />
      {writes && (
        <BulkBar page={page}>
          {props.bulkActions?.(page)}
          <BulkTags kind={kind} act={page.act} nameOf={nameOfRow} />
          {assign.button}
          <MergeButton kind={kind} rows={page.chosen} />
          <Button variant="default" leftSection={<TrashIcon size={14} />} onClick={remove}>
            {t.app.delete}
          </Button>
        </BulkBar>
      )}
      {assign.dialog}
      {log}
      {isId(view.open) && (
        <SidePanel
          label={open_row ? nameOfRow(open_row) : names.many}
          href={`${path}/${view.open}`}
          onClose={close}
        >
          <Record key={view.open} id={Number(view.open)} panel onLeave={close} />
        </SidePanel>
      )}
      {writes && (
        <Create
          opened={creating}
          onClose={() => setCreating(false)}
          {...(opens_created && { onCreated: ({ id }) => opening.over || setOpen(id) })}
        />
      )}
    </Page>
  )
}
