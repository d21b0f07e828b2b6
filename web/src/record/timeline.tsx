import { Button, Skeleton, Stack } from '@mantine/core'
import { answerOf, api } from '../api/client.ts'
import { ProblemNote } from '../app/problems.tsx'
import { useTexts } from '../texts/texts.ts'
import { Soft } from '../ui/values.tsx'
import { growing, usePages } from './pages.ts'
import { isToldElsewhere, TimelineItem } from './timeline-entry.tsx'
import './timeline.css'

type TimelineOwner = 'contacts' | 'companies' | 'deals'

/** One page of a timeline; each owner is a path of its own in the API. */
function readPage(owner: TimelineOwner, id: number, cursor: string, nth: number) {
  const params = { params: { path: { id }, query: { cursor, per_page: growing(25, nth) } } }
  if (owner === 'contacts') return answerOf(api.GET('/api/v1/contacts/{id}/timeline', params))
  if (owner === 'companies') return answerOf(api.GET('/api/v1/companies/{id}/timeline', params))
  return answerOf(api.GET('/api/v1/deals/{id}/timeline', params))
}

/** What happened with a record, newest first, a page at a time. */
export function Timeline({ owner, id }: { owner: TimelineOwner; id: number }) {
  const t = useTexts()
  const { data, error, refetch, more, loading_more, readMore } = usePages({
    queryKey: ['timeline', owner, id],
    read: (cursor, nth) => readPage(owner, id, cursor, nth),
  })
  if (error) return <ProblemNote error={error} onRetry={() => refetch()} />
  if (!data) return <Awaited />
  const entries = data.pages.flatMap((page) => page.data).filter((entry) => !isToldElsewhere(entry))
  if (!entries.length) return <Soft>{t.app.no_timeline}</Soft>
  return (
    <>
      <ol className="timeline" aria-label={t.app.timeline}>
        {entries.map((entry) => (
          <TimelineItem key={`${entry.type} ${entry.id}`} entry={entry} />
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

function Awaited() {
  const t = useTexts()
  return (
    <Stack gap="md" role="status" aria-busy aria-label={t.app.loading}>
      {['70%', '45%', '60%', '50%'].map((width) => (
        <Skeleton key={width} height={14} width={width} />
      ))}
    </Stack>
  )
}
