import { Title } from '@mantine/core'
import { useState } from 'react'
import type { EventName } from '../api/client.ts'
import { ProblemNote } from '../app/problems.tsx'
import { all_events } from '../kinds.ts'
import { useTexts } from '../texts/with-settings.ts'
import { Select } from '../ui/late-inputs.tsx'
import { useEventTypes } from './event-types.ts'
import { Json } from './json.tsx'
import { SendTest } from './send-test.tsx'
import './deliveries.css'

/** Sends a ping or the example of an event, and shows the receiver's response. */
export function TestWebhook({ webhook_id }: { webhook_id: string }) {
  const t = useTexts()
  const [event, setEvent] = useState<EventName | null>(null)
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
        onChange={(chosen) => setEvent((chosen || null) as EventName | null)}
      />
      {event && <Example event={event} />}
      <SendTest
        key={event}
        webhook_id={webhook_id}
        event={event}
        label={event ? t.webhooks.send_test : t.settings.send_ping}
        links
      />
    </section>
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
