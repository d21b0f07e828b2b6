import { Button, SegmentedControl } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useCallback, useMemo, useRef } from 'react'
import type { Aborted } from '../api/client.ts'
import { useCommands } from '../app/commands.ts'
import { laterDialog } from '../app/contained.tsx'
import { useFormats } from '../app/formats.ts'
import { useMay } from '../app/session.ts'
import { useEditFocused } from '../record/fields/edit-first.ts'
import { RecordLink } from '../record/fields/linked.tsx'
import { useMineCommand, useOwnerColumn } from '../record/fields/owner.tsx'
import { useNames } from '../record/kinds.ts'
import { useListAssign } from '../record/list/assign.tsx'
import { BulkTags } from '../record/list/bulk-tags.tsx'
import { ColumnsMenu, useColumns } from '../record/list/columns.tsx'
import { useCustomFilters, useDefinedColumns, useSorts } from '../record/list/custom-lists.tsx'
import {
  type Grouping,
  useGrouping,
  useGroupRows,
  useMonthGrouping,
  useOwnerGrouping,
} from '../record/list/groupings.tsx'
import { ListMenu } from '../record/list/list-menu.tsx'
import { filtersOf } from '../record/list/list-query.ts'
import { lateRecord } from '../record/page/late-record.tsx'
import { ViewTabs } from '../record/views/views.tsx'
import { useTexts } from '../texts/texts.ts'
import { BulkBar } from '../ui/bulk-bar.tsx'
import { Empty } from '../ui/empty.tsx'
import { useListFilters } from '../ui/filters.tsx'
import { focusedRow, keepFocus } from '../ui/focus.ts'
import { fullName } from '../ui/full-name.ts'
import { ListTable, useListPage } from '../ui/list-page.tsx'
import { isId, type ListView, useAddress, useCreating, useListView } from '../ui/list-view.ts'
import { NoMatches } from '../ui/no-matches.tsx'
import { Page } from '../ui/page.tsx'
import { SidePanel } from '../ui/panel.tsx'
import type { Column } from '../ui/table.tsx'
import { Badge } from '../ui/values.tsx'
import { useActivityFilters } from './activity-filters.ts'
import { CompleteCircle } from './complete-circle.tsx'
import { Due, TypeLabel } from './labels.tsx'
import { activitiesQuery, orders, overdueQuery, queryOf, readActivities, shows } from './lists.ts'
import { type ListedActivity, useActivityActions } from './queries.ts'

const CreateActivity = laterDialog(async () => (await import('./create-activity.tsx')).CreateActivity)
const ActivityRecord = lateRecord(async () => (await import('./activity-record.tsx')).ActivityRecord)

/** With a filter by one of these, the page shows all activities. */
const of_all = ['contact_id', 'company_id', 'deal_id', 'status'] as const

/** The activities: today, overdue, upcoming, done, all. */
export function ActivitiesPage() {
  const t = useTexts()
  const formats = useFormats()
  const names = useNames('activities')
  const may = useMay()('activities:write')
  const { address } = useAddress()
  const usual = of_all.some((name) => address[name]) ? 'all' : 'today'
  const show = shows.find((one) => one === address.show) ?? usual
  const by_field = useActivityFilters(show)
  const by_custom_field = useCustomFilters('activities')
  const filters = useMemo(() => [...by_field, ...by_custom_field], [by_field, by_custom_field])
  const base_columns = useActivityColumns()
  const defined = useDefinedColumns('activities')
  const columns = useColumns(
    'activities',
    useMemo(() => [...base_columns, ...defined], [base_columns, defined]),
  )
  const view = useListView(filters, '', useSorts('activities', base_columns))
  const filtering = useListFilters({ view, filters, custom: true })
  const [creating, setCreating] = useCreating()
  const actions = useActivityActions()

  const sort = view.sort || orders[show]
  const { zone } = formats
  const asked = {
    show,
    zone,
    today: formats.today(),
    sort,
    page: view.page,
    filters: {
      ...filtersOf(view.filters, filters, zone),
      ...(view.search && { search: view.search }),
    },
  }
  const whole = {
    key: JSON.stringify({ ...asked, page: undefined }),
    read: (place: object, by: Aborted) => readActivities(asked, place, by),
  }
  const grouped = useGrouping(useActivityGroupings())
  const groups = useGroupRows('activities', grouped, queryOf(asked), (filter, page) =>
    activitiesQuery({ ...asked, filters: { ...asked.filters, ...filter }, page }),
  )
  const page = useListPage(activitiesQuery(asked), view, whole, groups)
  const { rows, chosen } = page
  useMineCommand(view)
  const assign = useListAssign<ListedActivity>('activities', page, view.open)
  useEditFocused(() => focusedRow(rows)?.id, view, may)
  const create = () => setCreating(true)
  const close = useCallback(() => view.setOpen(null), [view])

  // Rows that are not drawn again keep their functions.
  const latest_rows = useRef(rows)
  latest_rows.current = rows
  const indexOf = (id: number) => latest_rows.current?.findIndex((row) => row.id === id) ?? 0
  const bulk = (work: typeof actions.remove) => page.act(work).then(() => keepFocus(0))
  async function removeAll(them: readonly ListedActivity[]) {
    if (them.some(({ id }) => String(id) === view.open)) await close()
    return actions.remove(them)
  }
  function completeFocused() {
    const row = focusedRow(rows)
    if (row)
      (row.completed_at ? actions.reopen(row) : actions.complete([row])).then(() =>
        keepFocus(indexOf(row.id)),
      )
  }
  const label = t.activities.keys.complete
  useCommands(
    [
      { id: 'create-activity', label: names.create, group: 'create', keys: 'c', run: create },
      { id: 'complete-row', label, group: 'lists', keys: 'd', keys_only: true, run: completeFocused },
    ],
    may,
  )

  return (
    <Page
      title={names.many}
      count={page.meta?.total}
      switcher={<ShowSwitch show={show} view={view} />}
      middle={filtering.line}
      tabs={<ViewTabs list="activities" />}
      below={filtering.chips}
      actions={
        <>
          <ColumnsMenu columns={columns} />
          <ListMenu kind="activities" query={queryOf(asked)} grouped={grouped} />
          {may && <Button onClick={create}>{names.create}</Button>}
        </>
      }
    >
      <div className="activity-list">
        <ListTable
          label={t.activities.shows[show]}
          columns={columns.shown}
          onMoveColumn={columns.move}
          onColumnWidth={columns.resize}
          page={page}
          {...(grouped.current && { groupName: grouped.current.nameOf })}
          selectable={may}
          nameOf={({ subject }) => subject}
          hrefOf={({ id }) => `/activities/${id}`}
          onOpen={({ id }) => view.setOpen(id)}
          open_id={view.open}
          sort={sort}
          onSort={view.setSort}
          lead={{
            label: t.activities.complete,
            cell: (row) => <CompleteCircle activity={row} onDone={() => keepFocus(indexOf(row.id))} />,
          }}
          empty={
            view.filtered ? (
              <NoMatches many={names.in_sentence.many} view={view} filters={filters} />
            ) : (
              <Empty
                text={t.activities.empty[show]}
                {...(may && { action: names.create, onAction: create })}
              />
            )
          }
        />
      </div>
      <BulkBar page={page}>
        {chosen.some(({ completed_at }) => !completed_at) && (
          <Button variant="default" onClick={() => bulk(actions.complete)}>
            {t.activities.complete}
          </Button>
        )}
        {may && <BulkTags kind="activities" act={page.act} nameOf={({ subject }) => subject} />}
        {assign.button}
        <Button variant="default" onClick={() => bulk(removeAll)}>
          {t.app.delete}
        </Button>
      </BulkBar>
      {assign.dialog}
      {isId(view.open) && (
        <SidePanel label={t.activities.facts} href={`/activities/${view.open}`} onClose={close}>
          <ActivityRecord key={view.open} id={Number(view.open)} panel onLeave={close} />
        </SidePanel>
      )}
      {may && <CreateActivity opened={creating} onClose={() => setCreating(false)} />}
    </Page>
  )
}

type Switch = { show: (typeof shows)[number]; view: ListView }

/** Chooses which activities are shown, and says how many are overdue. */
function ShowSwitch({ show, view }: Switch) {
  const t = useTexts()
  const { number } = useFormats()
  const { data: overdue } = useQuery(overdueQuery(view.filters.owner_id))
  return (
    <SegmentedControl
      size="xs"
      aria-label={t.activities.switch}
      value={show}
      // Each of the others has a status.
      onChange={(to) =>
        view.change({ show: to, sort: null, page: null, ...(to !== 'all' && { status: null }) })
      }
      data={shows.map((value) => ({
        value,
        label: (
          <span className="activity-show">
            {t.activities.shows[value]}
            {value === 'overdue' && (
              <span className="activity-overdue">
                {Boolean(overdue?.meta.total) && (
                  <Badge color="red">{number(overdue?.meta.total ?? 0)}</Badge>
                )}
              </span>
            )}
          </span>
        ),
      }))}
    />
  )
}

function useActivityGroupings(): Grouping[] {
  const { due_month, no_due_month } = useTexts().activities
  const by_owner = useOwnerGrouping('activities')
  const by_month = useMonthGrouping('due_at', due_month, no_due_month)
  return useMemo(() => [...by_owner, by_month], [by_owner, by_month])
}

function useActivityColumns() {
  const t = useTexts()
  const owner = useOwnerColumn('activities')
  return useMemo(
    (): Column<ListedActivity>[] => [
      {
        id: 'subject',
        label: t.fields.subject,
        cell: ({ subject, completed_at, contact, company, deal }) => (
          <span className="activity-what">
            <span className={completed_at ? 'one-line activity-done' : 'one-line'}>{subject}</span>
            <span className="one-line hint activity-with">
              {contact ? fullName(contact) : (company ?? deal)?.name}
            </span>
          </span>
        ),
      },
      { id: 'type', label: t.fields.type, cell: ({ type }) => <TypeLabel type={type} /> },
      {
        id: 'due_at',
        label: t.fields.due_at,
        sort: 'due_at',
        phone: true,
        cell: (activity) => <Due activity={activity} />,
      },
      {
        id: 'linked',
        label: t.activities.linked,
        width: 240,
        cell: ({ contact, company, deal }) => (
          <span className="activity-about">
            {contact && <RecordLink kind="contacts" id={contact.id} name={fullName(contact)} />}
            {company && <RecordLink kind="companies" {...company} />}
            {deal && <RecordLink kind="deals" {...deal} />}
          </span>
        ),
      },
      owner,
    ],
    [t, owner],
  )
}
