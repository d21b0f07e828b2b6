import { Button, Group, Text } from '@mantine/core'
import { notifications, useNotifications } from '@mantine/notifications'
import type { ReactNode } from 'react'
import type { RecordPath } from '../app/addresses.ts'
import { useCommands } from '../app/commands.ts'
import { showProblem } from '../app/problems.tsx'
import { type Texts, useTexts } from '../texts/texts.ts'
import { keepFocus } from './focus.ts'
import { oneClick } from './one-press.ts'
import { showToast } from './toast.ts'

// Long enough to read it and to reach the button.
const undo_ms = 8000
// The undo functions of the visible toasts, by toast id.
const undos = new Map<string, () => void>()
// Likewise the functions that open what was created.
const opens = new Map<string, () => void>()

/** Shows what was done, with an Undo button. */
export function offerUndo(texts: Texts, message: string, undo: () => Promise<unknown>): void {
  function run() {
    notifications.hide(id)
    undo()
      .catch((error) => showProblem(error, texts))
      // The button unmounted with its toast.
      .finally(() => keepFocus())
  }
  const button = (
    <Button variant="light" flex="none" onClick={oneClick(run)}>
      {texts.app.undo}
    </Button>
  )
  const id = showOffer(texts, message, button, undos, run)
}

/** Shows a message with a button. `offers` has what its command runs while it is visible. Returns the toast's id. */
function showOffer(
  texts: Texts,
  message: string,
  button: ReactNode,
  offers: Map<string, () => void>,
  run: () => void,
): string {
  const id = showToast({
    onClose: () => offers.delete(id),
    autoClose: undo_ms,
    withBorder: true,
    closeButtonProps: { 'aria-label': texts.app.close },
    message: (
      <Group justify="space-between" wrap="nowrap">
        <Text size="sm">{message}</Text>
        {button}
      </Group>
    ),
  })
  offers.set(id, run)
  return id
}

/** Says that a record was created, with a link to it. */
export function showCreated(texts: Texts, name: string, href: RecordPath, go: () => void): void {
  function open() {
    notifications.hide(id)
    go()
  }
  const button = (
    <Button
      component="a"
      href={href}
      variant="light"
      flex="none"
      onClick={(event) => {
        // With a key that opens a new tab, the browser follows the link.
        if (event.metaKey || event.ctrlKey || event.shiftKey) return
        event.preventDefault()
        open()
      }}
    >
      {texts.app.open}
    </Button>
  )
  const id = showOffer(texts, texts.app.created({ name }), button, opens, open)
}

/** Offers the newest Undo, and the newest created record, as commands while their toasts are visible. */
export function UndoCommand() {
  const t = useTexts()
  const { notifications: shown } = useNotifications()
  const newest = shown.findLast(({ id = '' }) => undos.has(id))?.id
  const run = () => undos.get(newest ?? '')?.()
  useCommands([{ id: 'undo', label: t.app.undo, group: 'actions', keys: 'z', run }], newest !== undefined)
  const created = shown.findLast(({ id = '' }) => opens.has(id))?.id
  const open = () => opens.get(created ?? '')?.()
  useCommands(
    [{ id: 'open-created', label: t.app.open_created, group: 'actions', keys: 'o', run: open }],
    created !== undefined,
  )
  return null
}

/** Shows for 3 s what was done. */
export function showMessage(message: string): void {
  showToast({ message, autoClose: 3000, withBorder: true, withCloseButton: false })
}
