import { Button } from '@mantine/core'
import { useState } from 'react'
import { laterDialog } from '../app/contained.tsx'
import { useMay } from '../app/session.ts'
import { useTexts } from '../texts/texts.ts'

const ExplainEvent = laterDialog(async () => (await import('./explain.tsx')).ExplainEvent)

/** A button that opens the reasons why each webhook got an event or not. */
export function Explain({ event_id, event }: { event_id: string; event: string }) {
  const t = useTexts()
  const may = useMay()('webhooks:read')
  const [opened, setOpened] = useState(false)
  if (!may || event === 'ping') return null
  return (
    <>
      <Button
        variant="subtle"
        size="compact-xs"
        aria-label={t.record.explain_event({ event })}
        onClick={() => setOpened(true)}
      >
        {t.record.explain}
      </Button>
      <ExplainEvent event_id={event_id} event={event} opened={opened} onClose={() => setOpened(false)} />
    </>
  )
}
