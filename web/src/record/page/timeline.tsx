import { Button, Skeleton, Stack } from '@mantine/core'
import { type RecordKind, recordApi } from '../../api/record-api.ts'
import { ProblemNote } from '../../app/problems.tsx'
import { useTexts } from '../../texts/texts.ts'
import { Soft } from '../../ui/values.tsx'
import { growing, usePages } from '../pages.ts'
import { inLines, isShownElsewhere, TimelineItem, usePlanned } from './timeline-entry.tsx'
import './timeline.css'

const useTimeline = (kind: RecordKind, id: number) =>
  usePages({
    queryKey: ['timeline', kind, id],
    read: (cursor, nth, signal) =>
      recordApi(kind).timeline(id, { cursor, per_page: growing(25, nth) }, signal),
  })

/** The timeline of a record, newest first, page by page. */
export function Timeline({ kind, id, name }: { kind: RecordKind; id: number; name: string }) {
  const t = useTexts()
  const isPlanned = usePlanned()
  const { data, error, refetch, more, loading_more, readMore } = useTimeline(kind, id)
  if (error) return <ProblemNote error={error} onRetry={() => refetch()} />
  if (!data) return <Placeholder />
  const entries = data.pages.flatMap((page) => page.data).filter((entry) => !isShownElsewhere(entry))
  if (!entries.length) return <Soft>{t.app.no_timeline}</Soft>
  // The next one first.
  const planned = entries.filter((entry) => isPlanned(entry, name)).sort((a, b) => dueOf(a) - dueOf(b))
  const past = inLines(entries.filter((entry) => !isPlanned(entry, name)))
  return (
    <>
      {planned.length > 0 && (
        <>
          <h2 className="timeline-heading">{t.record.planned}</h2>
          <ol className="timeline" aria-label={t.record.planned}>
            {planned.map((entry) => (
              <TimelineItem
                key={`${entry.type} ${entry.id}`}
                kind={kind}
                id={id}
                name={name}
                entry={entry}
                planned
              />
            ))}
          </ol>
          <h2 className="timeline-heading">{t.record.past}</h2>
        </>
      )}
      <ol className="timeline" aria-label={t.app.timeline}>
        {past.map((line) => (
          <TimelineItem
            key={`${line.entry.type} ${line.entry.id}`}
            kind={kind}
            id={id}
            name={name}
            {...line}
          />
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

/** When something planned is due; without a time, last. */
function dueOf({ data }: { data: object }): number {
  const { due_at, start_at } = data as { due_at?: string | null; start_at?: string }
  return Date.parse(due_at ?? start_at ?? '') || Number.POSITIVE_INFINITY
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
