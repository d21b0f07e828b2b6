import { Button, Group, Text } from '@mantine/core'
import { notifications, useNotifications } from '@mantine/notifications'
import { useCommands } from '../app/commands.ts'
import { showProblem } from '../app/problems.tsx'
import { type Texts, useTexts } from '../texts/texts.ts'
import { keepFocus } from './focus.ts'
import { showToast } from './toast.ts'

// Long enough to read it and to reach the button.
const undo_ms = 8000
// The undo functions of the visible toasts, by toast id.
const undos = new Map<string, () => void>()

/** Shows what was done, with an Undo button. */
export function offerUndo(texts: Texts, message: string, undo: () => Promise<unknown>): void {
  function run() {
    notifications.hide(id)
    undo()
      .catch((error) => showProblem(error, texts))
      // The button unmounted with its toast.
      .finally(() => keepFocus())
  }
  const id = showToast({
    onClose: () => undos.delete(id),
    autoClose: undo_ms,
    withBorder: true,
    closeButtonProps: { 'aria-label': texts.app.close },
    message: (
      <Group justify="space-between" wrap="nowrap">
        <Text size="sm">{message}</Text>
        <Button variant="light" onClick={run}>
          {texts.app.undo}
        </Button>
      </Group>
    ),
  })
  undos.set(id, run)
}

/** Offers the newest Undo as a command while its toast is visible. */
export function UndoCommand() {
  const t = useTexts()
  const { notifications: shown } = useNotifications()
  const newest = shown.findLast(({ id = '' }) => undos.has(id))?.id
  const run = () => undos.get(newest ?? '')?.()
  useCommands([{ id: 'undo', label: t.app.undo, group: 'actions', keys: 'z', run }], newest !== undefined)
  return null
}

/** Shows for 3 s what was done. */
export function showMessage(message: string): void {
  showToast({ message, autoClose: 3000, withBorder: true, withCloseButton: false })
}
