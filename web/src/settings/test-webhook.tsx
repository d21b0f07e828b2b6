import { Button, Group, Text, Title } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, dataOf, type Schemas } from '../api/client.ts'
import { useFormats } from '../app/formats.ts'
import { ProblemNote } from '../app/problems.tsx'
import { useTexts } from '../texts/texts.ts'
import { Outcome } from './outcome.tsx'
import { DeliveryStatus } from './statuses.tsx'

/** Sends a ping and shows the receiver's response. */
export function TestWebhook({ webhook_id }: { webhook_id: string }) {
  const t = useTexts()
  const formats = useFormats()
  const client = useQueryClient()
  const [sending, setSending] = useState(false)
  const [outcome, setOutcome] = useState<Schemas['DeliveryDetail'] | null>(null)
  const [problem, setProblem] = useState<unknown>(null)
  async function send() {
    setSending(true)
    setProblem(null)
    try {
      const params = { path: { webhook_id } }
      setOutcome(await dataOf(api.POST('/api/v1/webhooks/{webhook_id}/test', { params, body: {} })))
      client.invalidateQueries({ queryKey: ['deliveries'] })
    } catch (error) {
      setOutcome(null)
      setProblem(error)
    } finally {
      setSending(false)
    }
  }
  const attempt = outcome?.attempts.at(-1)
  return (
    <section className="settings-section">
      <Title order={2}>{t.settings.test}</Title>
      <p className="settings-hint hint">{t.settings.test_text}</p>
      <Group gap="md">
        <Button variant="default" loading={sending} onClick={send}>
          {t.settings.send_ping}
        </Button>
        <Group gap="sm" role="status">
          {outcome && <DeliveryStatus status={outcome.status} />}
          {attempt && (
            <>
              <Outcome attempt={attempt} />
              <Text size="sm" c="dimmed" className="numbers">
                {t.settings.ms(formats.number(attempt.duration_ms))}
              </Text>
            </>
          )}
          {outcome && <Link to={`/settings/deliveries/${outcome.id}`}>{t.settings.look_at_it}</Link>}
        </Group>
      </Group>
      {problem ? <ProblemNote error={problem} /> : null}
    </section>
  )
}
