import { Button, Group, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf, type EventName, type Schemas } from '../api/client.ts'
import { Link } from '../app/link.ts'
import { ProblemNote } from '../app/problems.tsx'
import { useTexts } from '../texts/with-settings.ts'
import { useDoing } from '../ui/doing.ts'
import { Outcome } from './outcome.tsx'
import { DeliveryStatus } from './statuses.tsx'

type Props = {
  webhook_id: string
  /** Null: a ping. */
  event: EventName | null
  label: string
  /** Whether the outcome has a link to its page. */
  links: boolean
}

/** A button that sends a ping or the example of an event, and the receiver's response. */
export function SendTest({ webhook_id, event, label, links }: Props) {
  const client = useQueryClient()
  const [outcome, setOutcome] = useState<Schemas['DeliveryDetail'] | null>(null)
  const { doing, problem, setProblem, run } = useDoing()
  async function send() {
    const params = { path: { webhook_id } }
    const body = event ? { event } : {}
    setOutcome(await dataOf(api.POST('/api/v1/webhooks/{webhook_id}/test', { params, body })))
    client.invalidateQueries({ queryKey: ['deliveries'] })
  }
  function fail(error: unknown) {
    setOutcome(null)
    setProblem(error)
  }
  return (
    <>
      <Group gap="md">
        <Button variant="default" loading={doing} onClick={() => run(send, fail)}>
          {label}
        </Button>
        <Group gap="sm" role="status">
          {outcome && <Sent outcome={outcome} links={links} />}
        </Group>
      </Group>
      {problem ? <ProblemNote error={problem} /> : null}
    </>
  )
}

function Sent({ outcome, links }: { outcome: Schemas['DeliveryDetail']; links: boolean }) {
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
      {links && <Link to={`/settings/deliveries/${outcome.id}`}>{t.settings.look_at_it}</Link>}
    </>
  )
}
