import { Button, Group, Skeleton, Stack } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf, Problem, type Schemas } from '../api/client.ts'
import { useFormats } from '../app/formats.ts'
import { Link } from '../app/link.ts'
import { ProblemNote, showProblem } from '../app/problems.tsx'
import { useMay } from '../app/session.ts'
import { useTexts } from '../texts/with-settings.ts'
import { CopyButton } from '../ui/copy.tsx'
import { useDoing } from '../ui/doing.ts'
import { showMessage } from '../ui/undo.tsx'
import { AttemptDetail } from './attempt.tsx'
import { AttemptLine } from './attempt-line.tsx'
import { Explain } from './explain-button.tsx'
import { RecordOfEvent } from './record-of-event.tsx'
import { DeliveryStatus } from './statuses.tsx'
import { useWebhooks, webhookName } from './webhooks.ts'
import './deliveries.css'

type Delivery = Schemas['DeliveryDetail']
const soon_ms = 5000

/** The query of a delivery. Polls while it is pending: each second around an attempt, else every five. */
export function useDelivery(id: string) {
  return useQuery({
    queryKey: ['deliveries', 'one', id],
    queryFn: ({ signal }) =>
      dataOf(api.GET('/api/v1/deliveries/{delivery_id}', { signal, params: { path: { delivery_id: id } } })),
    refetchInterval: ({ state: { data } }) => {
      if (data?.status !== 'pending') return false
      const { next_attempt_at } = data
      return next_attempt_at && Date.parse(next_attempt_at) - Date.now() > soon_ms ? soon_ms : 1000
    },
  })
}

/** Whether the next attempt of a pending delivery is under way, or about to be. */
const isDue = ({ status, next_attempt_at }: Delivery): boolean =>
  status === 'pending' && !(next_attempt_at && Date.parse(next_attempt_at) > Date.now())

/** Resends a finished delivery once, or makes the next attempt of a pending one come now. */
export function Resend({ delivery }: { delivery: Delivery }) {
  const t = useTexts()
  const client = useQueryClient()
  const writes = useMay()('webhooks:write')
  const { doing, run } = useDoing()
  const paused = useIsPaused(delivery)
  const { id, status } = delivery
  const pending = status === 'pending'
  if (!writes || status === 'cancelled') return null
  async function send() {
    const params = { path: { delivery_id: id } }
    const resending = api.POST('/api/v1/deliveries/{delivery_id}/resend', { params, body: {} })
    const changed = await dataOf(resending)
    client.setQueryData(['deliveries', 'one', id], changed)
    client.invalidateQueries({ queryKey: ['deliveries'] })
    showMessage(pending ? t.settings.sent_now : t.settings.resent)
  }
  function fail(error: unknown) {
    showProblem(error, t)
    if (error instanceof Problem && error.status === 409)
      client.invalidateQueries({ queryKey: ['deliveries', 'one', id] })
  }
  return (
    <Button loading={doing} disabled={paused || isDue(delivery)} onClick={() => run(send, fail)}>
      {pending ? t.settings.send_now : t.settings.resend}
    </Button>
  )
}

function useIsPaused({ webhook_id }: Delivery): boolean {
  const { data: webhooks } = useWebhooks()
  return webhooks?.find(({ id }) => id === webhook_id)?.status === 'paused'
}

/** The status of a delivery, and why it cannot be sent now. */
export function ResendStatus({ delivery }: { delivery: Delivery }) {
  const t = useTexts()
  const paused = useIsPaused(delivery)
  const { status } = delivery
  const writes = useMay()('webhooks:write')
  const reason = paused ? t.settings.resume_first : isDue(delivery) && t.settings.under_way
  return (
    <Group gap="sm">
      <DeliveryStatus status={status} />
      {writes && status !== 'cancelled' && reason && <span className="hint">{reason}</span>}
    </Group>
  )
}

type Props = {
  delivery: Delivery
  /** The number of the selected attempt; null: the latest. */
  chosen: number | null
  onChoose: (number: number | null) => void
}

/** The split view: attempts on the left, request and response of the selected one on the right. */
export function DeliveryView({ delivery, chosen, onChoose }: Props) {
  const t = useTexts()
  const { attempts } = delivery
  const latest = attempts.at(-1)
  const attempt = attempts.find(({ number }) => number === chosen) ?? latest
  const body = latest?.request.body ?? ''
  return (
    <div className="delivery">
      <Facts delivery={delivery} />
      <div className="delivery-split">
        <AttemptLine
          delivery={delivery}
          chosen={attempt?.number ?? null}
          onChoose={(number) => onChoose(number === latest?.number ? null : number)}
        />
        <div className="delivery-detail">
          {attempt ? (
            <AttemptDetail key={attempt.number} attempt={attempt} body={body} />
          ) : (
            <p className="settings-hint hint">{t.settings.no_attempt_yet}</p>
          )}
        </div>
      </div>
    </div>
  )
}

function Facts({ delivery }: { delivery: Delivery }) {
  const t = useTexts()
  const formats = useFormats()
  const { data: webhooks } = useWebhooks()
  const { id, event, event_id, webhook_id, created_at } = delivery
  const webhook = webhooks?.find((one) => one.id === webhook_id)
  return (
    <dl className="delivery-facts">
      <div>
        <dt>{t.settings.happened}</dt>
        <dd>
          <time dateTime={created_at} title={formats.exact(created_at)} className="numbers">
            {formats.day(created_at)} {formats.seconds(created_at)}
          </time>
        </dd>
      </div>
      <div>
        <dt>{t.settings.webhook}</dt>
        <dd>
          {webhook ? <Link to={`/settings/webhooks/${webhook_id}`}>{webhookName(webhook)}</Link> : webhook_id}{' '}
          <Explain event_id={event_id} event={event} />
        </dd>
      </div>
      {delivery.record_id !== null && (
        <div>
          <dt>{t.settings.record}</dt>
          <dd>
            <RecordOfEvent of={delivery} />
          </dd>
        </div>
      )}
      <div>
        <dt>{t.settings.id}</dt>
        <dd>
          <code>{id}</code>
        </dd>
      </div>
    </dl>
  )
}

/** A delivery beside the log. */
export function DeliveryInPanel({ id }: { id: string }) {
  const t = useTexts()
  const { data, error, refetch } = useDelivery(id)
  const [chosen, setChosen] = useState<number | null>(null)
  if (error && !data) return <ProblemNote error={error} onRetry={refetch} />
  return (
    <Stack px="lg" pb="lg" gap="sm">
      {data ? (
        <>
          <Group justify="space-between">
            <Group gap="md">
              <h2 className="delivery-title">{data.event}</h2>
              <ResendStatus delivery={data} />
            </Group>
            <Resend delivery={data} />
          </Group>
          <DeliveryView delivery={data} chosen={chosen} onChoose={setChosen} />
          <Group>
            <CopyButton value={data.id} label={t.settings.copy_id} />
          </Group>
        </>
      ) : (
        <>
          <Skeleton h={24} w="60%" />
          <Skeleton h={80} />
          <Skeleton h={200} />
        </>
      )}
    </Stack>
  )
}
