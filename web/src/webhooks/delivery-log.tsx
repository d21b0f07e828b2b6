import { Button, Group } from '@mantine/core'
import { ArrowUpIcon } from '@primer/octicons-react'
import { useEffect, useRef, useState } from 'react'
import type { Schemas } from '../api/client.ts'
import { useFormats } from '../app/formats.ts'
import { useNavigate } from '../app/link.ts'
import { ProblemNote } from '../app/problems.tsx'
import { useMay } from '../app/session.ts'
import { useTexts } from '../texts/with-settings.ts'
import { Empty } from '../ui/empty.tsx'
import { SidePanel } from '../ui/panel.tsx'
import { type Column, DataTable } from '../ui/table.tsx'
import { Countdown } from './countdown.tsx'
import { DeliveryInPanel } from './delivery-view.tsx'
import { type LogFilters, useLiveLog } from './live-log.ts'
import { failureOf, statusText } from './outcome-text.ts'
import { RecordOfEvent } from './record-of-event.tsx'
import { DeliveryStatus } from './statuses.tsx'
import { useWebhooks, webhookName } from './webhooks.ts'
import './deliveries.css'

type Props = {
  filters: LogFilters
  filtered: boolean
  /** The id of the delivery beside the log. */
  open: string | null
  onOpen: (id: string | null) => void
  onTotal: (total: number | undefined) => void
}

/**
 * The log of one set of filters. New deliveries appear by themselves. While the reader has scrolled, a
 * button shows how many wait.
 */
export function DeliveryLog({ filters, filtered, open, onOpen, onTotal }: Props) {
  const t = useTexts()
  const container = useRef<HTMLDivElement>(null)
  const [scrolled, setScrolled] = useState(false)
  const log = useLiveLog(filters, scrolled || open !== null)
  const { total } = log
  useEffect(() => onTotal(total), [total, onTotal])
  const nameOf = useRowName()
  const columns = useColumns()
  const may = useMay()('webhooks:write')
  const { data: webhooks } = useWebhooks()
  const none = webhooks?.length === 0
  const navigate = useNavigate()
  const createWebhook = () => navigate({ to: '/settings/webhooks', search: { create: '1' } })
  const not_live = log.error && <ProblemNote error={log.error} onRetry={log.retry} />
  if (!log.rows && not_live) return not_live
  function showFresh() {
    log.showFresh()
    container.current?.querySelector('.table-scroll')?.scrollTo({ top: 0 })
  }
  return (
    <div
      ref={container}
      className="settings-table delivery-log"
      onScrollCapture={(event) => setScrolled((event.target as Element).scrollTop > 4)}
    >
      <div className="delivery-fresh" role="status">
        {log.fresh > 0 && (
          <Button radius="xl" leftSection={<ArrowUpIcon size={14} />} onClick={showFresh}>
            {t.settings.fresh({ n: log.fresh, more: log.gap })}
          </Button>
        )}
      </div>
      {not_live}
      <DataTable
        label={t.settings.pages.deliveries.label}
        columns={columns}
        rows={log.rows}
        nameOf={nameOf}
        hrefOf={({ id }) => `/settings/deliveries/${id}`}
        onOpen={({ id }) => onOpen(id)}
        open_id={open}
        empty={
          filtered ? (
            <Empty text={t.app.nothing_found} />
          ) : (
            <Empty
              text={none ? t.settings.no_webhook_yet : t.settings.no_deliveries}
              {...(may && none && { action: t.app.create_webhook, onAction: createWebhook })}
            />
          )
        }
        foot={
          log.more && (
            <Group px="md" py="sm">
              <Button variant="default" loading={log.loading_older} onClick={log.loadOlder}>
                {t.settings.older}
              </Button>
            </Group>
          )
        }
      />
      {open && (
        <SidePanel
          label={t.settings.delivery}
          href={`/settings/deliveries/${open}`}
          onClose={() => onOpen(null)}
        >
          <DeliveryInPanel key={open} id={open} />
        </SidePanel>
      )}
    </div>
  )
}

type Row = Schemas['Delivery']

/** The time of a delivery, with the day if that is not today. */
function useTimeOf(): (at: string) => string {
  const formats = useFormats()
  const today = formats.day(new Date().toISOString())
  return (at) => [formats.day(at), formats.seconds(at)].filter((part) => part !== today).join(' ')
}

/** A delivery in words: its event, its webhook, its outcome and its time. */
function useRowName(): (row: Row) => string {
  const t = useTexts()
  const timeOf = useTimeOf()
  const { data: webhooks } = useWebhooks()
  return (row) => {
    const webhook = webhooks?.find(({ id }) => id === row.webhook_id)
    const outcome = statusText(row.status, failureOf(row, t), t)
    return [row.event, row.title, webhook && webhookName(webhook), outcome, timeOf(row.created_at)]
      .filter(Boolean)
      .join(', ')
  }
}

function useColumns(): Column<Row>[] {
  const t = useTexts()
  const timeOf = useTimeOf()
  const formats = useFormats()
  const { data: webhooks } = useWebhooks()
  const names = new Map(webhooks?.map((one) => [one.id, webhookName(one)]))
  const paused = new Set(webhooks?.filter((one) => one.status === 'paused').map(({ id }) => id))
  return [
    {
      id: 'created_at',
      label: t.settings.time,
      unnamed: true,
      cell: ({ created_at }) => (
        <time dateTime={created_at} title={formats.exact(created_at)} className="numbers">
          {timeOf(created_at)}
        </time>
      ),
    },
    {
      id: 'event',
      label: t.settings.event,
      phone: true,
      cell: (row) => (
        <>
          <code className="event-name">{row.event}</code>
          <span className="event-record">
            <RecordOfEvent of={row} className="quiet-link" />
          </span>
        </>
      ),
    },
    {
      id: 'record',
      label: t.settings.record,
      cell: (row) => <RecordOfEvent of={row} className="quiet-link" />,
    },
    {
      id: 'webhook',
      label: t.settings.webhook,
      cell: ({ webhook_id }) =>
        names.get(webhook_id) ??
        (webhooks && (
          <span className="soft">{t.settings.deleted_webhook({ end: webhook_id.slice(-4) })}</span>
        )),
    },
    {
      id: 'status',
      label: t.fields.status,
      phone: true,
      cell: (row) => <DeliveryStatus status={row.status} failure={failureOf(row, t)} />,
    },
    {
      id: 'attempts',
      label: t.settings.attempts,
      number: true,
      cell: ({ attempt_count }) => formats.number(attempt_count),
    },
    {
      id: 'duration',
      label: t.settings.duration,
      number: true,
      cell: ({ last_duration_ms }) =>
        typeof last_duration_ms === 'number' && t.settings.ms({ n: last_duration_ms }),
    },
    {
      id: 'next',
      label: t.settings.next_attempt,
      number: true,
      cell: ({ next_attempt_at, status, webhook_id }) => {
        if (status !== 'pending') return null
        if (paused.has(webhook_id)) return <span className="soft">{t.settings.when_resumed}</span>
        return next_attempt_at && <Countdown at={next_attempt_at} />
      },
    },
  ]
}
