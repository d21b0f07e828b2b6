import { Alert, Button, Group } from '@mantine/core'
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type Aborted, answerOf, api, dataOf, type Schemas } from '../api/client.ts'
import { Problem } from '../api/problem.ts'
import { useFormats } from '../app/formats.ts'
import { Link } from '../app/link.ts'
import { showProblem } from '../app/problems.tsx'
import { useRefreshAfter } from '../record/refresh.ts'
import { useTexts } from '../texts/with-settings.ts'
import { showMessage } from '../ui/undo.tsx'
import { visible } from '../ui/visible.ts'

type ClockChange = Schemas['ClockChange']
const most_named = 5

const clockChangesQuery = queryOptions({
  queryKey: ['appointments', 'clock-changes'],
  queryFn: async ({ signal }: Aborted) => {
    const { data, meta } = await answerOf(api.GET('/api/v1/appointments/clock-changes', { signal }))
    return { changes: data, total: meta.total ?? data.length }
  },
})

const keep = {
  clock: '/api/v1/appointments/{id}/keep-wall-clock',
  time: '/api/v1/appointments/{id}/keep-time',
} as const

/** The appointments that new rules of a time zone moved on the wall clock, and what can be done. Nothing without one. */
export function ClockChanges() {
  const t = useTexts()
  const { data } = useQuery(clockChangesQuery)
  const client = useQueryClient()
  const refresh = useRefreshAfter('appointments')
  const [keeping, setKeeping] = useState<keyof typeof keep | null>(null)
  if (!data?.total) return null
  const { changes, total } = data
  const zones = [...new Set(changes.map(({ time_zone }) => time_zone.replaceAll('_', ' ')))]

  async function decide(what: keyof typeof keep) {
    setKeeping(what)
    let done = 0
    let refused: unknown
    try {
      // One after the other, in their order: appointments that touch would block each other.
      for (const { id } of changes)
        await dataOf(api.POST(keep[what], { params: { path: { id } }, body: {} })).then(
          () => done++,
          (error) => {
            // The time of this one is taken. It stays in the list.
            if (!(error instanceof Problem) || error.status !== 409) throw error
            refused ??= error
          },
        )
    } catch (error) {
      refused = error
    } finally {
      if (done) showMessage(t.settings.clocks.done({ n: done }))
      if (refused) showProblem(refused, t)
      setKeeping(null)
      await Promise.all([refresh(), client.invalidateQueries(clockChangesQuery)])
    }
  }
  return (
    <Alert variant="light" title={t.settings.clocks.title({ n: total })} mx="md" my="sm" fz="sm">
      {t.settings.clocks.text({ zones: zones.join(', ') })}
      <ul className="clock-changes">
        {changes.slice(0, most_named).map((change) => (
          <Change key={change.id} change={change} />
        ))}
        {total > most_named && <li>{t.settings.clocks.more({ n: total - most_named })}</li>}
      </ul>
      <Group gap="sm">
        <Button loading={keeping === 'clock'} disabled={keeping === 'time'} onClick={() => decide('clock')}>
          {t.settings.clocks.keep_clock}
        </Button>
        <Button
          variant="default"
          loading={keeping === 'time'}
          disabled={keeping === 'clock'}
          onClick={() => decide('time')}
        >
          {t.settings.clocks.keep_time}
        </Button>
      </Group>
    </Alert>
  )
}

function Change({ change: { id, title, start_at, kept_start_at } }: { change: ClockChange }) {
  const t = useTexts()
  const formats = useFormats()
  const times = { now: formats.moment(start_at), kept: formats.moment(kept_start_at) }
  return (
    <li>
      <Link to={`/calendar/${id}`}>{visible(title)}</Link>: {t.settings.clocks.times(times)}
    </li>
  )
}
