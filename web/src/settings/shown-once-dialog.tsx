import { Button, Group, Modal } from '@mantine/core'
import { useTexts } from '../texts/texts.ts'
import { ShownOnce } from './shown-once.tsx'

type Props = React.ComponentProps<typeof ShownOnce> & { opened: boolean; onClose: () => void }

/** Shows a secret in a dialog that only its button closes, so that a stray click cannot lose it. */
export function ShownOnceDialog({ opened, onClose, ...once }: Props) {
  const t = useTexts()
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={once.title}
      size="lg"
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
    >
      <ShownOnce {...once} />
      <Group justify="flex-end" mt="lg">
        <Button onClick={onClose}>{t.settings.kept}</Button>
      </Group>
    </Modal>
  )
}
