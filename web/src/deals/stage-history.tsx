import { Skeleton, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { api, dataOf, type Schemas } from '../api/client.ts'
import { useFormats } from '../app/formats.ts'
import { ProblemNote } from '../app/problems.tsx'
import { useTexts } from '../texts/texts.ts'
import { StageBadge } from './stage-badge.tsx'
import './stage-history.css'

type Stay = Schemas['StageStay']

const units = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const

/** A duration in its largest unit and the next one, unless that is zero: 3 days 4 hr. */
function lengthOf(seconds: number, locale: string): string {
  const first = Math.max(
    0,
    units.findIndex(([, size]) => seconds >= size),
  )
  let left = seconds < 1 ? 0 : seconds
  const at = seconds < 1 ? units.length - 1 : first
  return units
    .slice(at, at + 2)
    .flatMap(([unit, size], index) => {
      const n = Math.floor(left / size)
      left -= n * size
      if (n === 0 && index > 0) return []
      return [new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'short' }).format(n)]
    })
    .join(' ')
}

/** The stages of a deal, latest first: since when, by whom, for how long. */
export function StageHistory({ id }: { id: number }) {
  const t = useTexts()
  const { data, error, refetch } = useQuery({
    queryKey: ['deals', 'stages', id],
    queryFn: ({ signal }) =>
      dataOf(api.GET('/api/v1/deals/{id}/stages', { signal, params: { path: { id } } })),
  })
  if (error) return <ProblemNote error={error} onRetry={() => refetch()} />
  if (!data)
    return (
      <Stack gap="md" role="status" aria-busy aria-label={t.app.loading}>
        <Skeleton height={14} width="60%" />
        <Skeleton height={14} width="45%" />
      </Stack>
    )
  return (
    <ol className="stays" aria-label={t.deals.history}>
      {data.toReversed().map((stay) => (
        <StayItem key={`${stay.entered_at} ${stay.stage}`} stay={stay} />
      ))}
    </ol>
  )
}

function StayItem({ stay }: { stay: Stay }) {
  const t = useTexts()
  const formats = useFormats()
  const { stage, from_stage, entered_at, left_at, duration_seconds, changed_by } = stay
  const stayed = lengthOf(duration_seconds, formats.locale)
  return (
    <li className={`stay stage-${stage}`}>
      <div className="stay-line">
        <StageBadge stage={stage} />
        <span className="stay-from">
          {from_stage ? t.deals.history_from({ stage: t.deals.stages[from_stage] }) : t.deals.history_began}
        </span>
        <span className="stay-length numbers">
          {left_at ? stayed : t.deals.history_so_far({ text: stayed })}
        </span>
      </div>
      <div className="stay-when">
        <time dateTime={entered_at} title={formats.exact(entered_at)}>
          {formats.moment(entered_at)}
        </time>{' '}
        {t.deals.history_by({ name: nameOf(changed_by, t.deals) })}
      </div>
    </li>
  )
}

type Words = { command_line: string; service: string; somebody: string }

function nameOf({ kind, name }: Stay['changed_by'], words: Words): string {
  if (name) return name
  return kind === 'command_line' || kind === 'service' ? words[kind] : words.somebody
}
