import { Group, Title } from '@mantine/core'

type Props = {
  title: string
  /** Controls on the line of the title. */
  beside?: React.ReactNode
  children: React.ReactNode
}

/** A part of a page of the settings. */
export function Section({ title, beside, children }: Props) {
  return (
    <section className="settings-section">
      <Group justify="space-between" mb="xs">
        <Title order={2}>{title}</Title>
        {beside}
      </Group>
      {children}
    </section>
  )
}
