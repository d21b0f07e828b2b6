import { Button } from '@mantine/core'
import { useState } from 'react'
import type { RecordKind } from '../api/record-api.ts'
import { laterDialog } from '../app/contained.tsx'
import { useFormats } from '../app/formats.ts'
import { useMay } from '../app/session.ts'
import { instantOf, isWall } from '../app/zones.ts'
import { all_events, all_kinds } from '../kinds.ts'
import { RecordName } from '../record/fields/linked.tsx'
import { type Kind, useKinds } from '../record/kinds.ts'
import { useSearch } from '../record/search.ts'
import { SettingsFrame } from '../settings/settings-frame.tsx'
import type { Texts } from '../texts/texts.ts'
import { useTexts } from '../texts/with-settings.ts'
import type { FilterField } from '../ui/filter-value.ts'
import { type Filter, useListFilters } from '../ui/filters.tsx'
import { isId, useListView } from '../ui/list-view.ts'
import { DeliveryLog } from './delivery-log.tsx'
import type { LogFilters } from './live-log.ts'
import { useWebhooks, webhookName } from './webhooks.ts'

const ResendFailed = laterDialog(async () => (await import('./resend-failed.tsx')).ResendFailed)

const choice = (name: string): FilterField => ({ name, kind: 'choice', single: true })
const by = {
  webhook_id: choice('webhook_id'),
  event: choice('event'),
  event_id: { name: 'event_id' },
  kind: choice('kind'),
  record_id: { name: 'record_id', single: true },
  status: choice('status'),
  status_code: { name: 'status_code', kind: 'number' },
  time: { name: 'time', kind: 'moment', single: true, ends: [['from', 'to']] },
} as const satisfies Record<string, FilterField>
const fields = Object.values(by)
const statuses = ['pending', 'succeeded', 'failed', 'cancelled'] as const

/** The log of all deliveries, live. */
export function DeliveriesPage() {
  const t = useTexts()
  const { zone } = useFormats()
  const writes = useMay()('webhooks:write')
  const view = useListView(fields)
  const kinds = useKinds()
  const search = useSearch()
  const { data: webhooks } = useWebhooks()
  const [resending, setResending] = useState(false)
  const [total, setTotal] = useState<number | undefined>()
  const { from, to, record_id, ...equal } = view.filters
  const start = from && isWall(from) && instantOf(from, zone)
  // The chosen minute is included.
  const end = to && isWall(to) && new Date(Date.parse(instantOf(to, zone)) + 59_999).toISOString()
  // An id needs its kind.
  const record = equal.kind && record_id && isId(record_id) ? { record_id } : {}
  const filters = {
    ...equal,
    ...record,
    ...(start && { from: start }),
    ...(end && { to: end }),
  } as LogFilters

  const { webhook_id } = view.filters
  const deleted = webhooks && !webhooks.some(({ id }) => id === webhook_id) && webhook_id
  const asked: Filter[] = [
    {
      ...by.webhook_id,
      label: t.settings.webhook,
      options: [
        ...(webhooks ?? []).map((one) => ({ value: one.id, label: webhookName(one) })),
        // The deliveries of a deleted webhook stay in the log.
        ...(deleted
          ? [{ value: deleted, label: t.settings.deleted_webhook({ end: deleted.slice(-4) }) }]
          : []),
      ],
    },
    {
      ...by.event,
      label: t.settings.event,
      options: [...all_events, 'ping'].map((name) => ({ value: name, label: name })),
    },
    { ...by.event_id, label: t.settings.event_id },
    { ...by.kind, label: t.settings.record_kind, options: kindChoices(t) },
    ...(equal.kind ? [{ ...by.record_id, ...recordFilter(equal.kind as RecordKind) }] : []),
    {
      ...by.status,
      label: t.fields.status,
      options: statuses.map((status) => ({ value: status, label: t.settings.delivery_status[status] })),
    },
    { ...by.status_code, label: t.settings.status_code },
    { ...by.time, label: t.settings.time },
  ]
  /** The record by its name; of a kind that is not searched, by its id. */
  function recordFilter(kind: RecordKind): Omit<Filter, 'name'> {
    const known: Kind | undefined = kinds[kind]
    if (!known?.search) return { label: t.settings.record_id }
    const reference = { kind, search: search(kind) }
    const show = (id: string) => <RecordName kind={kind} id={Number(id)} />
    return { label: t.settings.record, kind: 'reference', reference, show }
  }
  const filtering = useListFilters({ view, filters: asked, search: false })
  return (
    <SettingsFrame
      title={t.settings.pages.deliveries.label}
      count={total}
      whole
      middle={filtering.line}
      below={filtering.chips}
      actions={
        writes && (
          <Button variant="default" onClick={() => setResending(true)}>
            {t.settings.resend_failed}…
          </Button>
        )
      }
      api={{ path: `/deliveries${queryOf(filters)}` }}
    >
      <DeliveryLog
        key={JSON.stringify(filters)}
        filters={filters}
        filtered={view.filtered}
        open={view.open}
        onOpen={view.setOpen}
        onTotal={setTotal}
      />
      <ResendFailed webhook_id={webhook_id} opened={resending} onClose={() => setResending(false)} />
    </SettingsFrame>
  )
}

const kindChoices = (t: Texts) =>
  all_kinds.flatMap(({ kind, events }) => (events.length ? { value: kind, label: t.kinds[kind].one } : []))

const queryOf = (filters: LogFilters) => {
  const query = new URLSearchParams(filters as Record<string, string>).toString()
  return query && `?${query}`
}
