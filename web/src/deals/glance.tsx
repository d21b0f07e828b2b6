import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { activitiesApi } from '../activities/kind.tsx'
import type { ListedActivity } from '../activities/queries.ts'
import { allOf } from '../api/all.ts'
import { useFormats } from '../app/formats.ts'
import { wallOf } from '../app/zones.ts'
import { OwnerName } from '../record/fields/owner.tsx'
import { useLabels } from '../record/kinds.ts'
import { useAllRelated } from '../record/page/related.tsx'
import { useTexts } from '../texts/texts.ts'
import { Money } from '../ui/values.tsx'
import { NextStep } from './progress.tsx'

type Kind = 'contacts' | 'companies' | 'deals'
type Record = {
  id: number
  owner_id: string | null
  /** Of a deal. */
  value?: number | null
  /** Of a contact or a company. */
  last_contacted_at?: string | null
  open_deals_value?: number
}
type Props = { kind: Kind; record: Record }

const day_ms = 86_400_000
const nouns = { contacts: 'contact_id', companies: 'company_id', deals: 'deal_id' } as const
/** The activities with which somebody was reached. */
const contacts: readonly string[] = ['call', 'meeting', 'email']

/** The facts that a seller needs first: open value, next step, last contact, owner. */
export function Glance({ kind, record }: Props) {
  const t = useTexts()
  const labelOf = useLabels(kind)
  const deal = kind === 'deals'
  return (
    <dl className="glance" aria-label={t.record.glance}>
      <Fact label={deal ? labelOf('value') : t.kinds.deals.many}>
        {deal ? (
          record.value === null ? (
            '–'
          ) : (
            <Money value={record.value} />
          )
        ) : (
          <OpenDeals kind={kind} id={record.id} value={record.open_deals_value} />
        )}
      </Fact>
      <Fact label={t.record.next_step}>
        <Next kind={kind} id={record.id} />
      </Fact>
      <Fact label={t.record.last_contact}>
        {deal ? <LastOfDeal id={record.id} /> : <LastContact at={record.last_contacted_at} />}
      </Fact>
      <Fact label={labelOf('owner_id')}>{record.owner_id ? <OwnerName id={record.owner_id} /> : '–'}</Fact>
    </dl>
  )
}

const Fact = ({ label, children }: { label: string; children: ReactNode }) => (
  <div>
    <dt>{label}</dt>
    <dd>{children}</dd>
  </div>
)

type Of = { kind: Kind; id: number }

/** The sum of the open deals, and their number if the tab of deals has all of them. */
function OpenDeals({ kind, id, value = 0 }: Of & { value?: number | undefined }) {
  const t = useTexts()
  const formats = useFormats()
  const all = useAllRelated('deals', { [nouns[kind]]: id })
  const sum = value > 0 && formats.sum(value)
  if (!all) return sum || '–'
  const n = all.filter(({ status }) => status === 'open').length
  return n ? [t.record.open_deals({ n }), sum].filter(Boolean).join(' · ') : t.record.no_open_deals
}

/** The open activity that is due first. Asked for only if the tab of activities does not have all of them. */
function Next({ kind, id }: Of) {
  const t = useTexts()
  const of = { [nouns[kind]]: id }
  const all = useAllRelated('activities', of)
  const query = { ...of, status: 'open', sort: 'due_at', per_page: 1 } as const
  const { data } = useQuery({ ...activitiesApi.listQuery(query), enabled: all === null })
  if (!all && !data) return '–'
  const known = all ? all.filter((one) => !one.completed_at).sort(byDue) : (data?.data ?? [])
  const [next] = known
  if (!next) return t.record.no_next_step
  return <NextStep deal={{ next_activity: next, stage_since: undefined, status: 'open' }} />
}

/** As the service orders them: without a time, last. */
const byDue = (a: ListedActivity, b: ListedActivity) =>
  (a.due_at ?? 'z').localeCompare(b.due_at ?? 'z') || a.id - b.id

/** A deal keeps no time of its last contact: it follows from all of its activities. */
function LastOfDeal({ id }: { id: number }) {
  const of = { deal_id: id }
  const all = useAllRelated('activities', of)
  const query = { ...of, status: 'completed', type: contacts.join(',') }
  const { data = all } = useQuery({
    queryKey: ['activities', 'reached', of],
    queryFn: ({ signal }) => allOf((page) => activitiesApi.list({ ...query, ...page }, signal)),
    enabled: all === null,
  })
  if (!data) return '–'
  const reached = data.flatMap(({ type, completed_at }) =>
    completed_at && contacts.includes(type) ? [completed_at] : [],
  )
  return <LastContact at={reached.sort().at(-1)} />
}

/** The days since somebody was reached. */
function LastContact({ at }: { at: string | null | undefined }) {
  const t = useTexts()
  const { zone, today, exact } = useFormats()
  if (!at) return t.record.never_contacted
  const days = (Date.parse(today()) - Date.parse(wallOf(at, zone).slice(0, 10))) / day_ms
  return (
    <time dateTime={at} title={exact(at)}>
      {t.record.days_ago({ n: days })}
    </time>
  )
}
