import { Skeleton, Stack } from '@mantine/core'
import { useTexts } from '../../texts/texts.ts'

/** Placeholder of a record while it is read. */
export function AwaitedRecord() {
  const t = useTexts()
  return (
    <Stack gap="md" p="lg" role="status" aria-busy aria-label={t.app.loading} data-waiting>
      <Skeleton height={24} width="40%" mb="md" />
      {['55%', '45%', '60%', '50%', '40%'].map((width) => (
        <Skeleton key={width} height={14} width={width} />
      ))}
    </Stack>
  )
}
