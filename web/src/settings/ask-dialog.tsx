import { Button, Group, Text } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { ProblemNote } from '../app/problems.tsx'
import { useTexts } from '../texts/with-settings.ts'
import { Dialog } from '../ui/dialog.tsx'

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
  const [doing, setDoing] = useState(false)
  const [problem, setProblem] = useState<unknown>(null)
  const close = () => {
    setProblem(null)
    onClose()
  }
  async function go() {
    setDoing(true)
    setProblem(null)
    try {
      await onDo()
      close()
    } catch (error) {
      setProblem(error)
    } finally {
      setDoing(false)
    }
  }
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
