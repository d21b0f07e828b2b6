import { Button, Skeleton, Stack } from '@mantine/core'
import { type RecordKind, recordApi } from '../../api/record-api.ts'
import { ProblemNote } from '../../app/problems.tsx'
import { useTexts } from '../../texts/texts.ts'
import { Soft } from '../../ui/values.tsx'
import { growing, usePages } from '../pages.ts'
import { isShownElsewhere, TimelineItem } from './timeline-entry.tsx'
import './timeline.css'

/** The timeline of a record, newest first, page by page. */
export function Timeline({ kind, id }: { kind: RecordKind; id: number }) {
  const t = useTexts()
  const { data, error, refetch, more, loading_more, readMore } = usePages({
    queryKey: ['timeline', kind, id],
    read: (cursor, nth, signal) =>
      recordApi(kind).timeline(id, { cursor, per_page: growing(25, nth) }, signal),
  })
  if (error) return <ProblemNote error={error} onRetry={() => refetch()} />
  if (!data) return <Placeholder />
  const entries = data.pages.flatMap((page) => page.data).filter((entry) => !isShownElsewhere(entry))
  if (!entries.length) return <Soft>{t.app.no_timeline}</Soft>
  return (
    <>
      <ol className="timeline" aria-label={t.app.timeline}>
        {entries.map((entry) => (
          <TimelineItem key={`${entry.type} ${entry.id}`} kind={kind} id={id} entry={entry} />
        ))}
      </ol>
      {more && (
        <Button variant="default" loading={loading_more} onClick={readMore}>
          {t.app.load_more}
        </Button>
      )}
    </>
  )
}

function Placeholder() {
  const t = useTexts()
  return (
    <Stack gap="md" role="status" aria-busy aria-label={t.app.loading}>
      {['70%', '45%', '60%', '50%'].map((width) => (
        <Skeleton key={width} height={14} width={width} />
      ))}
    </Stack>
  )
}
