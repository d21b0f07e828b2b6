import { Button, Group, Text, TextInput } from '@mantine/core'
import { useEffect, useId, useRef, useState } from 'react'
import { useTexts } from '../texts/texts.ts'

export type Props = {
  question: string
  onReason: (reason: string) => void
  onCancel: () => void
  cancel?: string
}

/** Asks for the reason of a loss: free text, or one of the usual reasons. */
export function LostReason({ question, onReason, onCancel, cancel }: Props) {
  const t = useTexts()
  const id = useId()
  const input = useRef<HTMLInputElement>(null)
  const [reason, setReason] = useState('')
  const [missing, setMissing] = useState(false)
  // A dropped card takes the focus one frame later. The question takes it after that.
  useEffect(() => {
    let frame = requestAnimationFrame(() => {
      frame = requestAnimationFrame(() => input.current?.focus())
    })
    return () => cancelAnimationFrame(frame)
  }, [])
  return (
    <form
      aria-labelledby={id}
      className="lost-reason"
      onSubmit={(event) => {
        event.preventDefault()
        if (reason.trim()) return onReason(reason.trim())
        setMissing(true)
        input.current?.focus()
      }}
    >
      <Text id={id} size="sm" fw={600} lineClamp={3}>
        {question}
      </Text>
      <TextInput
        ref={input}
        mt="sm"
        aria-label={t.deals.reason}
        maxLength={255}
        value={reason}
        error={missing && !reason.trim() ? t.deals.reason_required : null}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
      <Group gap={4} mt="sm">
        {Object.values(t.deals.reasons).map((one) => (
          <Button
            key={one}
            size="compact-xs"
            variant="default"
            fw={400}
            onClick={() => {
              setReason(one)
              input.current?.focus()
            }}
          >
            {one}
          </Button>
        ))}
      </Group>
      <Group justify="flex-end" gap="sm" mt="md">
        <Button variant="default" onClick={onCancel}>
          {cancel ?? t.app.cancel}
        </Button>
        <Button type="submit" color="red.9">
          {t.deals.mark_lost}
        </Button>
      </Group>
    </form>
  )
}
