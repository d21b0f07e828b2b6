import { Button, Group, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { tellProblem } from '../app/problems.tsx'
import type { Texts } from '../texts/texts.ts'
import { keepFocus } from './focus.ts'

// Long enough to read it and to reach the button.
const undo_ms = 8000

/** Says what was done, with a button that takes it back. */
export function offerUndo(texts: Texts, message: string, undo: () => Promise<unknown>): void {
  const id = notifications.show({
    autoClose: undo_ms,
    withBorder: true,
    closeButtonProps: { 'aria-label': texts.app.close },
    message: (
      <Group justify="space-between" wrap="nowrap">
        <Text size="sm">{message}</Text>
        <Button
          variant="light"
          onClick={() => {
            notifications.hide(id)
            undo()
              .catch((error) => tellProblem(error, texts))
              // The button has gone with its toast.
              .finally(() => keepFocus())
          }}
        >
          {texts.app.undo}
        </Button>
      </Group>
    ),
  })
}

/** Says briefly what was done. */
export function tell(message: string): void {
  notifications.show({ message, autoClose: 3000, withBorder: true, withCloseButton: false })
}
