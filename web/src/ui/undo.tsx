import { Button, Group, Text } from '@mantine/core'
import { type NotificationData, notifications, notificationsStore } from '@mantine/notifications'
import { tellProblem } from '../app/problems.tsx'
import type { Texts } from '../texts/texts.ts'
import { keepFocus } from './focus.ts'

// Long enough to read it and to reach the button.
const undo_ms = 8000

/** Shows a toast at once: where there is no room for it, the oldest one goes, as it would soon by itself. */
function show(toast: NotificationData): string {
  const { notifications: shown, limit } = notificationsStore.getState()
  const oldest = shown.find(({ autoClose }) => autoClose !== false)
  if (shown.length >= limit && oldest?.id) notifications.hide(oldest.id)
  return notifications.show(toast)
}

/** Says what was done, with a button that takes it back. */
export function offerUndo(texts: Texts, message: string, undo: () => Promise<unknown>): void {
  const id = show({
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
  show({ message, autoClose: 3000, withBorder: true, withCloseButton: false })
}
