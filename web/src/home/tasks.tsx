import { CircleIcon } from '@primer/octicons-react'
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { api, dataOf, type Schemas } from '../api/client.ts'
import { useFormats } from '../app/formats.ts'
import { tellProblem } from '../app/problems.tsx'
import { useMay } from '../app/session.ts'
import { endOfDay } from '../app/zones.ts'
import { useTexts } from '../texts/texts.ts'
import { offerUndo } from '../ui/undo.tsx'
import { Card } from './card.tsx'

type Activity = Schemas['ListedActivity']
const at_once = 7

/** What is overdue or due today; a click on the circle completes. */
export function Tasks() {
  const t = useTexts()
  const formats = useFormats()
  const client = useQueryClient()
  const may_complete = useMay()('activities:write')
  const list = useRef<HTMLUListElement>(null)
  const left_at = useRef<number | null>(null)
  const { zone } = formats
  const today = formats.today()
  const queryKey = ['activities', 'home', today, zone]
  const { data, error, refetch } = useQuery({
    queryKey,
    queryFn: () => {
      const query = {
        status: 'open',
        due_to: endOfDay(today, zone),
        sort: 'due_at',
        per_page: at_once,
      } as const
      return dataOf(api.GET('/api/v1/activities', { params: { query } }))
    },
    placeholderData: keepPreviousData,
  })
  const { data: counts } = useQuery({
    queryKey: ['reports', 'activities', zone],
    queryFn: () => dataOf(api.GET('/api/v1/reports/activities', { params: { query: { time_zone: zone } } })),
    enabled: useMay()('reports:read'),
  })

  async function complete({ id, subject }: Activity, index: number) {
    const path = { params: { path: { id } } }
    const again = () => {
      for (const resource of ['activities', 'reports', 'timeline', 'events'])
        client.invalidateQueries({ queryKey: [resource] })
    }
    left_at.current = index
    client.setQueryData<Activity[]>(queryKey, (before) => before?.filter((one) => one.id !== id))
    try {
      await dataOf(api.POST('/api/v1/activities/{id}/complete', { ...path, body: {} }))
      offerUndo(t, t.home.completed(subject), async () => {
        await dataOf(api.POST('/api/v1/activities/{id}/reopen', { ...path, body: {} }))
        again()
      })
    } catch (error) {
      tellProblem(error, t)
    }
    again()
  }
  // The button that was used is gone: the focus goes to the one that has come to its place.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list tells when it has changed
  useEffect(() => {
    if (left_at.current === null) return
    const buttons = [...(list.current?.querySelectorAll('button') ?? [])]
    buttons[Math.min(left_at.current, buttons.length - 1)]?.focus()
    left_at.current = null
  }, [data])

  return (
    <Card
      title={t.home.today}
      place="tasks"
      waiting={!data}
      error={error}
      onRetry={refetch}
      more={{ to: '/activities', label: t.home.all_activities }}
      beside={
        counts &&
        [
          counts.overdue_count && t.home.overdue_count(formats.number(counts.overdue_count)),
          counts.today_count && t.home.today_count(formats.number(counts.today_count)),
        ]
          .filter(Boolean)
          .join(', ')
      }
    >
      {data?.length === 0 && <p className="home-soft">{t.home.nothing_due}</p>}
      <ul className="home-list" ref={list}>
        {data?.map((activity, index) => (
          <li key={activity.id} className="home-row">
            {may_complete && (
              <button
                type="button"
                className="home-complete"
                aria-label={t.home.complete(activity.subject)}
                title={t.home.complete(activity.subject)}
                onClick={() => complete(activity, index)}
              >
                <CircleIcon />
              </button>
            )}
            <Link to={`/activities/${activity.id}`} className="home-row-name">
              {activity.subject}
            </Link>
            <Due at={activity.due_at} />
          </li>
        ))}
      </ul>
    </Card>
  )
}

function Due({ at }: { at: string | null }) {
  const { home } = useTexts()
  const formats = useFormats()
  if (!at) return null
  const overdue = Date.parse(at) < Date.now()
  return (
    <time dateTime={at} title={formats.exact(at)} className="home-row-side numbers" data-overdue={overdue}>
      {overdue ? `${home.overdue}, ${formats.relative(at)}` : formats.time(at)}
    </time>
  )
}
