import { Group, Text } from '@mantine/core'
import { CopyButton } from '../ui/copy.tsx'

type Props = { title: string; text: string; value: string; copy: string; children?: React.ReactNode }

/** A secret that is shown once, with a copy button. */
export function ShownOnce({ title, text, value, copy, children }: Props) {
  return (
    <section className="shown-once" aria-label={title}>
      <Text fw={600} size="sm">
        {title}
      </Text>
      <Text size="sm" c="dimmed">
        {text}
      </Text>
      <code>{value}</code>
      <Group gap="sm">
        <CopyButton value={value} label={copy} />
      </Group>
      {children}
    </section>
  )
}
