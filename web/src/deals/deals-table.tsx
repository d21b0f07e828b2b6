import { Button, Menu } from '@mantine/core'
import { ArrowSwitchIcon } from '@primer/octicons-react'
import { useMemo, useState } from 'react'
import { useFormats } from '../app/formats.ts'
import { useMay } from '../app/session.ts'
import { useBulk } from '../record/bulk.tsx'
import { fullName } from '../record/choices.ts'
import { RecordLink } from '../record/linked.tsx'
import { RecordListPage } from '../record/record-list.tsx'
import { useTexts } from '../texts/texts.ts'
import type { Filter } from '../ui/filters.tsx'
import type { ListPage } from '../ui/list-page.tsx'
import type { Column } from '../ui/table.tsx'
import { Ago, Money } from '../ui/values.tsx'
import { CloseDate } from './close-date.tsx'
import { CreateDeal } from './create-deal.tsx'
import { DealRecord } from './deal-record.tsx'
import { type Deal, dealsQuery, deleteDeal, moveDeal, restoreDeal, touched } from './deals.ts'
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

/** The deals as rows: searched, filtered, sorted, and changed many at once. */
export function DealsTable({ before_views }: { before_views: React.ReactNode }) {
  const t = useTexts()
  const writes = useMay()('deals:write')
  const references = useReferenceFilters()
  const filters: Filter[] = [
    {
      ...{ name: 'stage', label: t.deals.stage },
      options: stages.map((stage) => ({ value: stage, label: t.deals.stages[stage] })),
    },
    {
      ...{ name: 'status', label: t.deals.status },
      options: Object.entries(t.deals.statuses).map(([value, label]) => ({ value, label })),
    },
    ...references,
    { name: 'created_from', label: t.deals.created_from, kind: 'date' },
    { name: 'created_to', label: t.deals.created_to, kind: 'date' },
  ]
  return (
    <RecordListPage
      list="deals"
      title={t.app.deals}
      columns={useDealColumns()}
      filter_names={filter_names}
      filters={filters}
      default_sort="-id"
      before_views={before_views}
      listQuery={dealsQuery}
      nameOf={({ name }) => name}
      empty={t.deals.empty}
      create={writes ? t.deals.create : undefined}
      createDialog={(opened, onClose) => <CreateDeal opened={opened} onClose={onClose} />}
      record={(id, onClose) => <DealRecord key={id} id={id} panel onLeave={onClose} />}
      bulk={
        writes
          ? {
              actions: (page) => <DealsBulk {...page} />,
              ...{ remove: deleteDeal, restore: restoreDeal, deleted: t.app.deleted_many, touched },
            }
          : undefined
      }
    />
  )
}

/** What can be done with the chosen deals beside deleting; it can be undone. */
function DealsBulk({ act, chosen }: Pick<ListPage<Deal>, 'act' | 'chosen'>) {
  const t = useTexts()
  const bulk = useBulk()
  const [asks, setAsks] = useState(false)
  const move = (to: Stage, lost_reason?: string) =>
    act((deals) => {
      const backs = new Map<number, () => Promise<Deal>>()
      return bulk({
        ...{ items: deals.filter(({ stage }) => stage !== to), nameOf: ({ name }) => name, refresh: touched },
        work: async (deal) => backs.set(deal.id, (await moveDeal(deal, to, lost_reason)).back),
        undo: async ({ id }) => backs.get(id)?.(),
        message: (n) => t.deals.moved_many(n, t.deals.stages[to]),
      })
    })
  return (
    <>
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
      <LostReasonDialog
        opened={asks}
        question={t.deals.why_lost_many(chosen.length)}
        onCancel={() => setAsks(false)}
        onReason={(reason) => {
          setAsks(false)
          move('lost', reason)
        }}
      />
    </>
  )
}
