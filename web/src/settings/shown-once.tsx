import { Button, Group, Text } from '@mantine/core'
import { useTexts } from '../texts/with-settings.ts'
import { CopyButton } from '../ui/copy.tsx'
import { Dialog } from '../ui/dialog.tsx'

type Props = {
  opened: boolean
  onClose: () => void
  title: string
  text: string
  /** The secret. */
  value: string
  /** The label of the button that copies it. */
  copy: string
  children?: React.ReactNode
}

/** Shows a secret in a dialog that only its button closes, so that a stray click cannot lose it. */
export function ShownOnce(props: Props) {
  const { opened, onClose, title, text, value, copy, children } = props
  const t = useTexts()
  return (
    <Dialog
      opened={opened}
      onClose={onClose}
      title={title}
      size="lg"
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
    >
      <section className="shown-once" aria-label={title}>
        <Text fw={600} size="sm">
          {title}
        </Text>
        <Text size="sm" c="dimmed">
          {text}
        </Text>
        <code>{value}</code>
        <CopyButton value={value} label={copy} />
        {children}
      </section>
      <Group justify="flex-end" mt="lg">
        <Button onClick={onClose}>{t.settings.kept}</Button>
      </Group>
    </Dialog>
  )
}
