import { Button, Menu } from '@mantine/core'
import { ArrowSwitchIcon, TrashIcon } from '@primer/octicons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import { useFormats } from '../app/formats.ts'
import { ProblemNote } from '../app/problems.tsx'
import { useMay } from '../app/session.ts'
import { useBulk } from '../record/bulk.tsx'
import { fullName } from '../record/choices.ts'
import { ColumnsMenu, useColumns } from '../record/columns.tsx'
import { RecordLink } from '../record/linked.tsx'
import { queryOf } from '../record/list-query.ts'
import type { BulkActions } from '../record/record-list.tsx'
import { ViewsMenu } from '../record/views.tsx'
import { useTexts } from '../texts/texts.ts'
import { BulkBar } from '../ui/bulk-bar.tsx'
import { Empty } from '../ui/empty.tsx'
import { ListFilters } from '../ui/filters.tsx'
import { useListView } from '../ui/list-view.ts'
import { Page } from '../ui/page.tsx'
import { type Column, DataTable } from '../ui/table.tsx'
import { Ago, Money } from '../ui/values.tsx'
import { CloseDate } from './close-date.tsx'
import { DealBeside } from './deal-page.tsx'
import { type Deal, deleteDeal, listDeals, moveDeal, restoreDeal, touched } from './deals.ts'
import { useReferenceFilters } from './filters.tsx'
import { LostReasonDialog } from './lost-reason.tsx'
import { StageBadge, StageMark } from './stage-badge.tsx'
import { type Stage, stages } from './stages.ts'
import './deals-table.css'

const filter_names = ['stage', 'status', 'company_id', 'contact_id', 'created_from', 'created_to'] as const

function useDealColumns(): Column<Deal>[] {
  const t = useTexts()
  const formats = useFormats()
  return useMemo(
    () => [
      {
        ...{ id: 'name', label: t.deals.name, sort: 'name', width: 260 },
        cell: ({ name, stage }) => (
          <>
            <span className="deal-stage">
              <StageMark stage={stage} />
              <span className="unseen">{t.deals.stages[stage]}</span>
            </span>
            <span className="deal-name">{name}</span>
          </>
        ),
      },
      {
        ...{ id: 'company', label: t.deals.company },
        cell: ({ company }) => company && <RecordLink kind="companies" {...company} />,
      },
      {
        ...{ id: 'contact', label: t.deals.contact },
        cell: ({ contact }) =>
          contact && <RecordLink kind="contacts" id={contact.id} name={fullName(contact)} />,
      },
      { id: 'stage', label: t.deals.stage, cell: ({ stage }) => <StageBadge stage={stage} /> },
      {
        ...{ id: 'value', label: t.deals.value, sort: 'value', down: true, number: true, phone: true },
        cell: ({ value }) => <Money value={value} />,
      },
      {
        ...{ id: 'probability', label: t.deals.probability, number: true },
        cell: ({ probability }) => formats.percent(probability / 100),
      },
      {
        ...{ id: 'expected_close_date', label: t.deals.expected_close_date, sort: 'expected_close_date' },
        cell: (deal) => <CloseDate deal={deal} />,
      },
      {
        ...{ id: 'created_at', label: t.app.created_at, sort: 'created_at', down: true, extra: true },
        cell: ({ created_at }) => <Ago at={created_at} />,
      },
      {
        ...{ id: 'updated_at', label: t.app.updated_at, sort: 'updated_at', down: true, extra: true },
        cell: ({ updated_at }) => <Ago at={updated_at} />,
      },
    ],
    [t, formats],
  )
}

type Props = { action: React.ReactNode; toggle: React.ReactNode; onCreate: () => void }

/** The deals as rows: searched, filtered, sorted, and changed many at once. */
export function DealsTable({ action, toggle, onCreate }: Props) {
  const t = useTexts()
  const writes = useMay()('deals:write')
  const view = useListView(filter_names, '-id')
  const columns = useColumns('deals', useDealColumns())
  const [selected, setSelected] = useState<Set<number>>(new Set())
  const references = useReferenceFilters()
  const { zone } = useFormats()
  const query = useMemo(() => queryOf(view, zone), [view, zone])
  const { data, error, refetch } = useQuery({
    queryKey: ['deals', 'list', query],
    queryFn: () => listDeals(query),
    placeholderData: keepPreviousData,
  })
  const rows = data?.data
  const filters = [
    {
      ...{ name: 'stage', label: t.deals.stage },
      options: stages.map((stage) => ({ value: stage, label: t.deals.stages[stage] })),
    },
    {
      ...{ name: 'status', label: t.deals.status },
      options: Object.entries(t.deals.statuses).map(([value, label]) => ({ value, label })),
    },
    ...references,
    { name: 'created_from', label: t.deals.created_from, kind: 'date' as const },
    { name: 'created_to', label: t.deals.created_to, kind: 'date' as const },
  ]
  // A page that is no longer there, since deals have gone: the last one that is.
  const last_page = data?.meta.last_page ?? 1
  const { page, setPage } = view
  useEffect(() => {
    if (rows?.length === 0 && page > last_page) setPage(last_page)
  }, [rows, page, last_page, setPage])
  return (
    <Page
      title={t.app.deals}
      count={data?.meta.total}
      middle={
        <>
          {toggle}
          <ViewsMenu list="deals" />
          <ListFilters view={view} filters={filters} />
        </>
      }
      actions={
        <>
          <ColumnsMenu columns={columns} />
          {action}
        </>
      }
    >
      {error && !data ? (
        <ProblemNote error={error} onRetry={() => refetch()} />
      ) : (
        <DataTable
          label={t.app.deals}
          columns={columns.shown}
          rows={rows}
          meta={data?.meta}
          nameOf={({ name }) => name}
          hrefOf={({ id }) => `/deals/${id}`}
          onOpen={({ id }) => view.setOpen(id)}
          open_id={view.open}
          sort={view.sort}
          onSort={view.setSort}
          onPage={setPage}
          {...(writes && { selected, onSelect: setSelected })}
          empty={
            view.filtered ? (
              <Empty
                text={t.app.nothing_found}
                action={t.app.clear_filters}
                onAction={() => view.clearFilters()}
              />
            ) : (
              <Empty text={t.deals.empty} {...(writes && { action: t.deals.create, onAction: onCreate })} />
            )
          }
        />
      )}
      <ManyDeals
        deals={(rows ?? []).filter(({ id }) => selected.has(id))}
        onDone={() => setSelected(new Set())}
        onLeave={() => view.open && selected.has(Number(view.open)) && view.setOpen(null)}
      />
      <DealBeside view={view} />
    </Page>
  )
}

/** What can be done with the chosen deals; all of it can be undone. */
function ManyDeals({ deals, onDone, onLeave }: { deals: Deal[] } & BulkActions) {
  const t = useTexts()
  const bulk = useBulk()
  const [asks, setAsks] = useState(false)

  function move(to: Stage, lost_reason?: string) {
    const backs = new Map<number, () => Promise<Deal>>()
    onDone()
    return bulk({
      items: deals.filter(({ stage }) => stage !== to),
      work: async (deal) => backs.set(deal.id, (await moveDeal(deal, to, lost_reason)).back),
      undo: async ({ id }) => backs.get(id)?.(),
      message: (n) => t.deals.moved_many(n, t.deals.stages[to]),
      refresh: [...touched],
    })
  }
  async function remove() {
    await onLeave()
    onDone()
    return bulk({
      items: deals,
      work: ({ id }) => deleteDeal(id),
      undo: ({ id }) => restoreDeal(id),
      message: t.app.deleted_many,
      refresh: [...touched],
    })
  }
  return (
    <>
      <BulkBar count={deals.length} onClear={onDone}>
        <Menu position="top" width={200}>
          <Menu.Target>
            <Button variant="default" leftSection={<ArrowSwitchIcon size={14} />}>
              {t.deals.change_stage}
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            {stages.map((stage) => (
              <Menu.Item
                key={stage}
                leftSection={<StageMark stage={stage} />}
                onClick={() => (stage === 'lost' ? setAsks(true) : move(stage))}
              >
                {t.deals.stages[stage]}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
        <Button variant="default" leftSection={<TrashIcon size={14} />} onClick={remove}>
          {t.app.delete}
        </Button>
      </BulkBar>
      <LostReasonDialog
        opened={asks}
        question={t.deals.why_lost_many(deals.length)}
        onCancel={() => setAsks(false)}
        onReason={(reason) => {
          setAsks(false)
          move('lost', reason)
        }}
      />
    </>
  )
}
