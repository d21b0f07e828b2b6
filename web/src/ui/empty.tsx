import { Button, Group, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'

type Props = {
  text: string
  action?: string
  onAction?: () => void
  /** Beside the button: another way to begin. */
  beside?: ReactNode
}

/** An empty list: one sentence that teaches the next step, and its button. */
export function Empty({ text, action, onAction, beside }: Props) {
  return (
    <Stack align="center" gap="md" py={64} px="lg">
      <Text c="dimmed" ta="center">
        {text}
      </Text>
      {action && onAction && (
        <Group justify="center" gap="sm">
          <Button onClick={onAction}>{action}</Button>
          {beside}
        </Group>
      )}
    </Stack>
  )
}
