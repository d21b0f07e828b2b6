import { Skeleton, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { api, dataOf, isGone, type Schemas } from '../api/client.ts'
import { useFormats } from '../app/formats.ts'
import { Link } from '../app/link.ts'
import { ProblemNote } from '../app/problems.tsx'
import type { Change } from '../record/page/explained.tsx'
import { type Texts, useTexts } from '../texts/with-settings.ts'
import { Dialog } from '../ui/dialog.tsx'
import { writeNumber } from '../ui/number.ts'
import { conditionText, shortField, valueText } from './condition-text.ts'
import { Status } from './statuses.tsx'
import { useWebhooks, webhookName } from './webhooks.ts'
import './explain.css'

type Explained = Schemas['ExplainedDelivery']

const looks: Partial<Record<Explained['verdict'], string>> = { delivered: 'succeeded' }
const not_sent = ['not_subscribed', 'condition_false', 'created_later']

type EventProps = { event_id: string; event: string; opened: boolean; onClose: () => void }

/** The dialog with the reasons why each webhook got an event or not. */
export const ExplainEvent = ({ opened, onClose, ...event }: EventProps) => (
  <ReasonsDialog opened={opened} onClose={onClose}>
    <Reasons {...event} />
  </ReasonsDialog>
)

/** The dialog with the reasons for all events of a change. */
export const ExplainChange = ({ onClose, ...change }: Change & { onClose: () => void }) => (
  <ReasonsDialog opened onClose={onClose}>
    <ReasonsOfChange {...change} />
  </ReasonsDialog>
)

function ReasonsDialog(props: { opened: boolean; onClose: () => void; children: React.ReactNode }) {
  const t = useTexts()
  return <Dialog {...props} title={t.webhooks.explain_title} size="lg" />
}

function ReasonsOfChange(change: Change) {
  const t = useTexts()
  const { data, error, refetch } = useQuery({
    queryKey: ['events', 'of-change', change],
    queryFn: ({ signal }) =>
      dataOf(api.GET('/api/v1/events/of-change', { signal, params: { query: change } })),
    retry: false,
  })
  if (error && !data) return <ProblemNote error={error} onRetry={refetch} />
  if (!data) return <Waiting />
  if (!data.length) return <Text size="sm">{t.webhooks.no_events}</Text>
  return data.map(({ id, event }) => <Reasons key={id} event_id={id} event={event} />)
}

const Waiting = () => (
  <Stack gap="sm">
    <Skeleton h={40} />
    <Skeleton h={40} />
  </Stack>
)

function Reasons({ event_id, event }: { event_id: string; event: string }) {
  const t = useTexts()
  const { data: webhooks } = useWebhooks()
  const { locale } = useFormats()
  const { data, error, refetch } = useQuery({
    queryKey: ['events', 'explain', event_id],
    queryFn: ({ signal }) =>
      dataOf(api.GET('/api/v1/events/{event_id}/explain', { signal, params: { path: { event_id } } })),
    retry: false,
    staleTime: 0,
  })
  if (isGone(error)) return <Text size="sm">{t.webhooks.not_kept}</Text>
  if (error && !data) return <ProblemNote error={error} onRetry={refetch} />
  if (!data) return <Waiting />
  if (!data.length) return <Text size="sm">{t.webhooks.no_webhooks}</Text>
  return (
    <>
      <p className="settings-hint hint">
        <code>{event}</code> · {t.webhooks.explain_text}
      </p>
      <ul className="explained">
        {data.map((one) => {
          const webhook = webhooks?.find(({ id }) => id === one.webhook_id)
          return (
            <li key={one.webhook_id}>
              <Link to={`/settings/webhooks/${one.webhook_id}`}>
                {webhook ? webhookName(webhook) : one.webhook_id}
              </Link>
              <Status
                status={not_sent.includes(one.verdict) ? 'cancelled' : (looks[one.verdict] ?? one.verdict)}
                label={t.webhooks.verdict_names[one.verdict]}
              />
              <p>{reason(one, event, t, (value) => writeNumber(value, locale))}</p>
            </li>
          )
        })}
      </ul>
    </>
  )
}

function reason(
  { verdict, condition, seen }: Explained,
  event: string,
  t: Texts,
  number: (value: number) => string,
): string {
  const { verdicts } = t.webhooks
  if (verdict === 'not_subscribed') return verdicts.not_subscribed({ event })
  if (verdict !== 'condition_false') return verdicts[verdict]
  if (!condition) return t.webhooks.verdict_names.condition_false
  return verdicts.condition_false({
    condition: conditionText(condition, t, number),
    field: shortField(condition.field),
    seen: valueText(seen, t, number),
  })
}
