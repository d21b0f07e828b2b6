import { ActionIcon, Group, Text } from '@mantine/core'
import { XIcon } from '@primer/octicons-react'
import { useTexts } from '../texts/texts.ts'
import './bulk-bar.css'

/** What can be done with the selected rows; floats over the list as long as some are selected. */
export function BulkBar({
  count,
  onClear,
  children,
}: {
  count: number
  onClear: () => void
  children: React.ReactNode
}) {
  const t = useTexts()
  if (!count) return null
  return (
    <section className="bulk-bar" aria-label={t.app.selected(count)}>
      <Text size="sm" fw={500} className="numbers">
        {t.app.selected(count)}
      </Text>
      <Group gap="xs">{children}</Group>
      <ActionIcon variant="subtle" color="gray" aria-label={t.app.clear} onClick={onClear}>
        <XIcon />
      </ActionIcon>
    </section>
  )
}
