import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { InitialActivity } from '../activities/create-activity.tsx'
import { CompleteCircle, Due, TypeLabel } from '../activities/parts.tsx'
import type { ListedActivity } from '../activities/queries.ts'
import { answerOf, api, dataOf } from '../api/client.ts'
import { later } from '../app/contained.tsx'
import { useFormats } from '../app/formats.ts'
import { useMay } from '../app/session.ts'
import type { DealBeginning } from '../deals/create-deal.tsx'
import { useTexts } from '../texts/texts.ts'
import { Ago, Initials, Money } from '../ui/values.tsx'
import { fullName } from './choices.ts'
import { RecordLink } from './linked.tsx'
import { RelatedList, related_shown } from './related-list.tsx'

// Loaded when they are first wanted.
const CreateDeal = later(async () => (await import('../deals/create-deal.tsx')).CreateDeal)
const CreateActivity = later(async () => (await import('../activities/create-activity.tsx')).CreateActivity)

/** The way to the whole list: /deals?company_id=7. */
const listOf = (path: string, filters: Record<string, unknown>) =>
  `${path}?${new URLSearchParams(filters as Record<string, string>)}`

type DealOwners = { contact_id?: number; company_id?: number }

/**
 * The deals of a contact or a company, and what the open ones are worth. `initial`: what a new one begins with; without it
 * there is no button for one.
 */
export function RelatedDeals({ initial, ...filters }: DealOwners & { initial?: DealBeginning }) {
  const t = useTexts()
  const formats = useFormats()
  const may = useMay()
  const creates = may('deals:write') && initial !== undefined
  // Null until it is first wanted; then it stays, so that the focus finds its way back when it closes.
  const [creating, setCreating] = useState<boolean | null>(null)
  const { data, error, refetch } = useQuery({
    queryKey: ['deals', 'related', filters],
    queryFn: () =>
      answerOf(api.GET('/api/v1/deals', { params: { query: { ...filters, per_page: related_shown } } })),
    placeholderData: keepPreviousData,
  })
  const { data: report } = useQuery({
    queryKey: ['reports', 'pipeline', filters],
    queryFn: () => dataOf(api.GET('/api/v1/reports/pipeline', { params: { query: filters } })),
    enabled: may('reports:read'),
  })
  return (
    <>
      <RelatedList
        label={t.app.deals}
        rows={data?.data}
        total={data?.meta.total ?? 0}
        error={error}
        onRetry={refetch}
        empty={t.record.no_deals}
        all={listOf('/deals', { view: 'table', ...filters })}
        summary={report?.total_open.count ? t.record.open_value(formats.sum(report.total_open.value)) : null}
        create={creates ? { label: t.record.create_deal, onCreate: () => setCreating(true) } : undefined}
      >
        {({ id, name, stage, value, expected_close_date }) => (
          <>
            <div className="related-main">
              <RecordLink kind="deals" id={id} name={name} />
              <div className="related-detail">
                {t.deals.stages[stage]}
                {expected_close_date && ` · ${formats.date(expected_close_date)}`}
              </div>
            </div>
            <div className="related-side">
              <Money value={value} />
            </div>
          </>
        )}
      </RelatedList>
      {creates && creating !== null && (
        <CreateDeal opened={creating} onClose={() => setCreating(false)} initial={initial} />
      )}
    </>
  )
}

type ActivityOwners = { contact_id?: number; company_id?: number; deal_id?: number }

/** The activities of a record, the newest first; one click completes one. `initial` as with deals. */
export function RelatedActivities({ initial, ...filters }: ActivityOwners & { initial?: InitialActivity }) {
  const t = useTexts()
  const creates = useMay()('activities:write') && initial !== undefined
  // Null until it is first wanted; then it stays, so that the focus finds its way back when it closes.
  const [creating, setCreating] = useState<boolean | null>(null)
  const { data, error, refetch } = useQuery({
    queryKey: ['activities', 'related', filters],
    queryFn: () =>
      answerOf(api.GET('/api/v1/activities', { params: { query: { ...filters, per_page: related_shown } } })),
    placeholderData: keepPreviousData,
  })
  return (
    <>
      <RelatedList
        label={t.app.activities}
        rows={data?.data}
        total={data?.meta.total ?? 0}
        error={error}
        onRetry={refetch}
        empty={t.record.no_activities}
        all={listOf('/activities', filters)}
        create={creates ? { label: t.record.create_activity, onCreate: () => setCreating(true) } : undefined}
      >
        {(activity) => <RelatedActivity activity={activity} />}
      </RelatedList>
      {creates && creating !== null && (
        <CreateActivity opened={creating} onClose={() => setCreating(false)} initial={initial} />
      )}
    </>
  )
}

function RelatedActivity({ activity }: { activity: ListedActivity }) {
  const { type, subject, id, completed_at } = activity
  return (
    <>
      <CompleteCircle activity={activity} />
      <div className={completed_at ? 'related-main related-done' : 'related-main'}>
        <RecordLink kind="activities" id={id} name={subject} />
        <div className="related-detail">
          <TypeLabel type={type} />
        </div>
      </div>
      <div className="related-side">
        <Due activity={activity} />
      </div>
    </>
  )
}

/** The people of a company. */
export function RelatedContacts({ company_id, onCreate }: { company_id: number; onCreate?: () => void }) {
  const t = useTexts()
  const query = { company_id, sort: 'last_name' as const, per_page: related_shown }
  const { data, error, refetch } = useQuery({
    queryKey: ['contacts', 'related', company_id],
    queryFn: () => answerOf(api.GET('/api/v1/contacts', { params: { query } })),
    placeholderData: keepPreviousData,
  })
  return (
    <RelatedList
      label={t.app.contacts}
      rows={data?.data}
      total={data?.meta.total ?? 0}
      error={error}
      onRetry={refetch}
      empty={t.record.no_contacts}
      all={listOf('/contacts', { company_id })}
      create={onCreate && { label: t.record.create_contact, onCreate }}
    >
      {(contact) => (
        <>
          <Initials name={fullName(contact)} />
          <div className="related-main">
            <RecordLink kind="contacts" id={contact.id} name={fullName(contact)} />
            <div className="related-detail">{[contact.stage, contact.email].filter(Boolean).join(' · ')}</div>
          </div>
        </>
      )}
    </RelatedList>
  )
}

/** The appointments with a contact, the latest first. */
export function RelatedAppointments({ contact_id }: { contact_id: number }) {
  const t = useTexts()
  const formats = useFormats()
  const query = { contact_id, sort: '-start_at' as const, per_page: related_shown }
  const { data, error, refetch } = useQuery({
    queryKey: ['appointments', 'related', contact_id],
    queryFn: () => answerOf(api.GET('/api/v1/appointments', { params: { query } })),
    placeholderData: keepPreviousData,
  })
  return (
    <RelatedList
      label={t.record.appointments}
      rows={data?.data}
      total={data?.meta.total ?? 0}
      error={error}
      onRetry={refetch}
      empty={t.record.no_appointments}
      all={listOf('/calendar', { contact_id })}
    >
      {({ id, title, start_at, status, location }) => (
        <>
          <div
            className={/^(cancelled|declined)$/.test(status) ? 'related-main related-done' : 'related-main'}
          >
            <RecordLink kind="appointments" id={id} name={title} />
            <div className="related-detail">
              {[formats.moment(start_at), location, status !== 'scheduled' && t.record[status]]
                .filter(Boolean)
                .join(' · ')}
            </div>
          </div>
          <div className="related-side related-detail">
            <Ago at={start_at} />
          </div>
        </>
      )}
    </RelatedList>
  )
}
