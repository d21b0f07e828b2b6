import { Button, Group, Text, TextInput } from '@mantine/core'
import { useEffect, useId, useRef, useState } from 'react'
import { useSession } from '../app/session.ts'
import { useTexts } from '../texts/texts.ts'

export type Props = {
  question: string
  onReason: (reason: string) => void
  onCancel: () => void
  cancel?: string
}

/** Asks for the reason of a loss: one of those that the workspace keeps; without them, a text, with the usual reasons beside it. */
export function LostReason({ question, onReason, onCancel, cancel }: Props) {
  const t = useTexts()
  const id = useId()
  const kept = useSession().workspace.lost_reasons
  const input = useRef<HTMLInputElement>(null)
  const first = useRef<HTMLButtonElement>(null)
  const [reason, setReason] = useState('')
  const [missing, setMissing] = useState(false)
  // A dropped card takes the focus one frame later. The question takes it after that.
  useEffect(() => {
    let frame = requestAnimationFrame(() => {
      frame = requestAnimationFrame(() => (input.current ?? first.current)?.focus())
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
      {kept.length === 0 && (
        <TextInput
          ref={input}
          mt="sm"
          aria-label={t.deals.reason}
          maxLength={255}
          value={reason}
          error={missing && !reason.trim() ? t.deals.reason_required : null}
          onChange={(event) => setReason(event.currentTarget.value)}
        />
      )}
      <Group gap={4} mt="sm">
        {(kept.length ? kept : Object.values(t.deals.reasons)).map((one, at) => (
          <Button
            key={one}
            ref={kept.length && at === 0 ? first : undefined}
            size="compact-xs"
            variant="default"
            fw={400}
            onClick={() => {
              if (kept.length) return onReason(one)
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
        {kept.length === 0 && (
          <Button type="submit" color="red.9">
            {t.deals.mark_lost}
          </Button>
        )}
      </Group>
    </form>
  )
}
