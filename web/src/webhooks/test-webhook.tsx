import { Button, Group, Text, Title } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf, type EventName, type Schemas } from '../api/client.ts'
import { Link } from '../app/link.ts'
import { ProblemNote } from '../app/problems.tsx'
import { all_events } from '../kinds.ts'
import { useTexts } from '../texts/with-settings.ts'
import { Select } from '../ui/late-inputs.tsx'
import { useEventTypes } from './event-types.ts'
import { Json } from './json.tsx'
import { Outcome } from './outcome.tsx'
import { DeliveryStatus } from './statuses.tsx'
import './deliveries.css'

/** Sends a ping or the example of an event, and shows the receiver's response. */
export function TestWebhook({ webhook_id }: { webhook_id: string }) {
  const t = useTexts()
  const client = useQueryClient()
  const [event, setEvent] = useState<EventName | null>(null)
  const [sending, setSending] = useState(false)
  const [outcome, setOutcome] = useState<Schemas['DeliveryDetail'] | null>(null)
  const [problem, setProblem] = useState<unknown>(null)
  async function send() {
    setSending(true)
    setProblem(null)
    try {
      const params = { path: { webhook_id } }
      const body = event ? { event } : {}
      setOutcome(await dataOf(api.POST('/api/v1/webhooks/{webhook_id}/test', { params, body })))
      client.invalidateQueries({ queryKey: ['deliveries'] })
    } catch (error) {
      setOutcome(null)
      setProblem(error)
    } finally {
      setSending(false)
    }
  }
  return (
    <section className="settings-section">
      <Title order={2}>{t.settings.test}</Title>
      <p className="settings-hint hint">{t.webhooks.test_text}</p>
      <Select
        maw={320}
        mb="sm"
        label={t.webhooks.what_to_send}
        data={[
          { value: '', label: t.webhooks.ping },
          ...all_events.map((name) => ({ value: name, label: name })),
        ]}
        value={event ?? ''}
        allowDeselect={false}
        searchable
        onChange={(chosen) => {
          setEvent((chosen || null) as EventName | null)
          setOutcome(null)
        }}
      />
      {event && <Example event={event} />}
      <Group gap="md">
        <Button variant="default" loading={sending} onClick={send}>
          {event ? t.webhooks.send_test : t.settings.send_ping}
        </Button>
        <Group gap="sm" role="status">
          {outcome && <Sent outcome={outcome} />}
        </Group>
      </Group>
      {problem ? <ProblemNote error={problem} /> : null}
    </section>
  )
}

function Sent({ outcome }: { outcome: Schemas['DeliveryDetail'] }) {
  const t = useTexts()
  const attempt = outcome.attempts.at(-1)
  return (
    <>
      <DeliveryStatus status={outcome.status} />
      {attempt && (
        <>
          <Outcome attempt={attempt} />
          <Text size="sm" c="dimmed" className="numbers">
            {t.settings.ms({ n: attempt.duration_ms })}
          </Text>
        </>
      )}
      <Link to={`/settings/deliveries/${outcome.id}`}>{t.settings.look_at_it}</Link>
    </>
  )
}

function Example({ event }: { event: EventName }) {
  const t = useTexts()
  const { data, error, refetch } = useEventTypes()
  if (error && !data) return <ProblemNote error={error} onRetry={refetch} />
  const example = data?.find(({ name }) => name === event)?.example
  if (!example) return null
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
    <section className="webhook-example" tabIndex={0} aria-label={t.webhooks.example}>
      <pre>
        <Json text={JSON.stringify({ ...(example as object), test: true }, null, 2)} />
      </pre>
    </section>
  )
}
