import { Button, Group, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { ProblemNote } from '../app/problems.tsx'
import { useTexts } from '../texts/with-settings.ts'
import { Dialog } from '../ui/dialog.tsx'
import { useDoing } from '../ui/doing.ts'

type Props = {
  title: string
  text: string
  /** The choices. */
  children?: ReactNode
  /** The label of the button: a verb with its object. */
  action: string
  opened: boolean
  onClose: () => void
  /** Runs the action. The dialog closes on success and shows an error otherwise. */
  onDo: () => Promise<unknown>
}

/** Confirms an action that cannot be undone. */
export function AskDialog({ title, text, children, action, opened, onClose, onDo }: Props) {
  const t = useTexts()
  const { doing, problem, setProblem, run } = useDoing()
  const close = () => {
    setProblem(null)
    onClose()
  }
  const go = () => run(() => onDo().then(close))
  return (
    <Dialog opened={opened} onClose={close} title={title}>
      <Text size="sm">{text}</Text>
      {children}
      {problem ? <ProblemNote error={problem} /> : null}
      <Group justify="flex-end" mt="lg">
        <Button variant="default" onClick={close} data-autofocus>
          {t.app.cancel}
        </Button>
        <Button color="red" loading={doing} onClick={go}>
          {action}
        </Button>
      </Group>
    </Dialog>
  )
}
