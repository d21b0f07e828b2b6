import { Button } from '@mantine/core'
import { ArrowSwitchIcon } from '@primer/octicons-react'
import { useMemo, useState } from 'react'
import { laterDialog } from '../app/contained.tsx'
import { useFormats } from '../app/formats.ts'
import { RecordLink } from '../record/fields/linked.tsx'
import { useOwnerColumn } from '../record/fields/owner.tsx'
import { useLabels } from '../record/kinds.ts'
import { useBulk } from '../record/list/bulk.tsx'
import { type Grouping, groupingBy, useMonthGrouping, useOwnerGrouping } from '../record/list/groupings.tsx'
import { dateColumn } from '../record/list/list-parts.tsx'
import { RecordListPage } from '../record/list/record-list.tsx'
import { lateRecord } from '../record/page/late-record.tsx'
import { useTexts } from '../texts/texts.ts'
import { Menu } from '../ui/floating.tsx'
import { fullName } from '../ui/full-name.ts'
import type { ListPage } from '../ui/list-page.tsx'
import type { Column } from '../ui/table.tsx'
import { Money } from '../ui/values.tsx'
import { CloseDate } from './close-date.tsx'
import { useDealFilters } from './deal-filters.ts'
import { type Deal, dealsQuery, moveDeal } from './deals.ts'
import { DaysInStage, NextStep } from './progress.tsx'
import { StageBadge, StageMark } from './stage-badge.tsx'
import { type Stage, stages } from './stages.ts'
import './deals-table.css'

const CreateDeal = laterDialog(async () => (await import('./create-deal.tsx')).CreateDeal)
const DealRecord = lateRecord(async () => (await import('./deal-record.tsx')).DealRecord)
const LostReasonDialog = laterDialog(async () => (await import('./lost-reason-dialog.tsx')).LostReasonDialog)

function useDealColumns() {
  const t = useTexts()
  const labelOf = useLabels('deals')
  const owner = useOwnerColumn('deals')
  const formats = useFormats()
  return useMemo(
    (): Column<Deal>[] => [
      {
        id: 'name',
        label: labelOf('name'),
        sort: 'name',
        cell: ({ name, stage }) => (
          <>
            <span className="deal-stage">
              <StageMark stage={stage} />
              <span className="unseen">{t.deals.stages[stage]}</span>
            </span>
            <span className="deal-name one-line">{name}</span>
          </>
        ),
      },
      {
        id: 'company',
        label: labelOf('company_id'),
        cell: ({ company }) => company && <RecordLink kind="companies" {...company} />,
      },
      {
        id: 'contact',
        extra: true,
        label: labelOf('contact_id'),
        cell: ({ contact }) =>
          contact && <RecordLink kind="contacts" id={contact.id} name={fullName(contact)} />,
      },
      { id: 'stage', label: labelOf('stage'), width: 176, cell: ({ stage }) => <StageBadge stage={stage} /> },
      {
        id: 'value',
        label: labelOf('value'),
        width: 120,
        sort: 'value',
        down: true,
        number: true,
        phone: true,
        cell: ({ value }) => <Money value={value} most={13} />,
      },
      {
        id: 'probability',
        extra: true,
        label: labelOf('probability'),
        width: 104,
        number: true,
        cell: ({ probability }) => formats.percent(probability / 100),
      },
      {
        id: 'expected_close_date',
        width: 128,
        label: t.fields.expected_close_date,
        sort: 'expected_close_date',
        cell: (deal) => <CloseDate deal={deal} />,
      },
      {
        id: 'next_activity',
        width: 176,
        label: labelOf('next_activity'),
        cell: (deal) => <NextStep deal={deal} />,
      },
      {
        id: 'stage_since',
        label: t.deals.in_stage,
        width: 96,
        cell: (deal) => <DaysInStage deal={deal} />,
      },
      owner,
      dateColumn(t, 'created_at'),
      dateColumn(t, 'updated_at'),
    ],
    [t, labelOf, formats, owner],
  )
}

function useDealGroupings(): Grouping[] {
  const t = useTexts()
  const labelOf = useLabels('deals')
  const by_owner = useOwnerGrouping('deals')
  const { close_month, no_close_month } = t.deals
  const by_month = useMonthGrouping('expected_close_date', close_month, no_close_month)
  return useMemo(() => {
    const badge = (stage: string) => <StageBadge stage={stage as Stage} />
    return [groupingBy('stage', labelOf('stage'), '', badge), ...by_owner, by_month]
  }, [labelOf, by_owner, by_month])
}

/** The deals as a table, with search, filters, order and bulk actions. */
export const DealsTable = ({ switcher }: { switcher: React.ReactNode }) => (
  <RecordListPage
    kind="deals"
    columns={useDealColumns()}
    filters={useDealFilters()}
    groupings={useDealGroupings()}
    default_sort="-id"
    switcher={switcher}
    listQuery={dealsQuery}
    Create={CreateDeal}
    opens_created={false}
    Record={DealRecord}
    bulkActions={(page) => <DealsBulk {...page} />}
  />
)

/** The bulk actions on deals beside deleting, with Undo. */
function DealsBulk({ act, chosen }: Pick<ListPage<Deal>, 'act' | 'chosen'>) {
  const t = useTexts()
  const bulk = useBulk()
  const [asks, setAsks] = useState(false)
  const move = (to: Stage, lost_reason?: string) =>
    act((deals) => {
      const backs = new Map<number, () => Promise<Deal>>()
      return bulk({
        kind: 'deals',
        items: deals.filter(({ stage }) => stage !== to),
        nameOf: ({ name }) => name,
        work: async (deal) => backs.set(deal.id, (await moveDeal(deal, to, lost_reason)).back),
        undo: async ({ id }) => backs.get(id)?.(),
        message: (n) => t.deals.moved_many({ n, stage: t.deals.stages[to] }),
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
        question={t.deals.why_lost_many({ n: chosen.length })}
        onClose={() => setAsks(false)}
        onReason={(reason) => {
          setAsks(false)
          move('lost', reason)
        }}
      />
    </>
  )
}
