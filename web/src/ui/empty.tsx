import { Button, Stack, Text } from '@mantine/core'

/** An empty list: one sentence that teaches the next step, and its button. */
export function Empty({ text, action, onAction }: { text: string; action?: string; onAction?: () => void }) {
  return (
    <Stack align="center" gap="md" py={64} px="lg">
      <Text c="dimmed" ta="center">
        {text}
      </Text>
      {action && onAction && <Button onClick={onAction}>{action}</Button>}
    </Stack>
  )
}
