import { Button, Group, Skeleton, Stack, Text } from '@mantine/core'
import { PlusIcon } from '@primer/octicons-react'
import { Link } from '@tanstack/react-router'
import { useFormats } from '../app/formats.ts'
import { ProblemNote } from '../app/problems.tsx'
import { useTexts } from '../texts/texts.ts'
import { Soft } from '../ui/values.tsx'
import './related.css'

/** How many related records are shown before the whole list is named. */
export const related_shown = 10

type Props<Row> = {
  label: string
  rows: Row[] | undefined
  total: number
  error: unknown
  onRetry: () => unknown
  empty: string
  /** The list with all of them. */
  all: string
  /** A word about all of them, such as the sum. */
  summary?: React.ReactNode
  create?: { label: string; onCreate: () => void } | undefined
  children: (row: Row) => React.ReactNode
}

/** A short list of related records, the way to all of them, and the button for another one. */
export function RelatedList<Row extends { id: number }>(props: Props<Row>) {
  const { label, rows, total, error, onRetry, empty, all, summary, create, children } = props
  const t = useTexts()
  const formats = useFormats()
  if (error) return <ProblemNote error={error} onRetry={onRetry} />
  return (
    <>
      <Group justify="space-between" mih={30} gap="sm">
        <Text size="sm" c="dimmed" className="numbers">
          {summary}
        </Text>
        {create && (
          <Button variant="default" leftSection={<PlusIcon size={14} />} onClick={create.onCreate}>
            {create.label}
          </Button>
        )}
      </Group>
      {!rows && (
        <Stack gap="md" mt="md" aria-busy>
          <Skeleton height={14} width="60%" />
          <Skeleton height={14} width="45%" />
        </Stack>
      )}
      {rows?.length === 0 && <Soft>{empty}</Soft>}
      <ul className="related" aria-label={label}>
        {rows?.map((row) => (
          <li key={row.id}>{children(row)}</li>
        ))}
      </ul>
      {total > related_shown && (
        <Button component={Link} to={all} variant="subtle" mt="sm">
          {t.record.show_all(formats.number(total))}
        </Button>
      )}
    </>
  )
}
