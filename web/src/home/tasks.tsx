import { CircleIcon } from '@primer/octicons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { useActivityActions } from '../activities/queries.ts'
import { answerOf, api, dataOf } from '../api/client.ts'
import { useFormats } from '../app/formats.ts'
import { useMay } from '../app/session.ts'
import { endOfDay } from '../app/zones.ts'
import { useTexts } from '../texts/texts.ts'
import { Card } from './card.tsx'

const at_once = 7

/** Activities that are overdue or due today. A click on the circle completes one. */
export function Tasks() {
  const t = useTexts()
  const formats = useFormats()
  const { complete } = useActivityActions()
  const may_complete = useMay()('activities:write')
  const list = useRef<HTMLUListElement>(null)
  const left_at = useRef<number | null>(null)
  const { zone } = formats
  const today = formats.today()
  const { data, error, refetch } = useQuery({
    queryKey: ['activities', 'home', today, zone],
    queryFn: () => {
      const query = {
        status: 'open',
        due_to: endOfDay(today, zone),
        sort: 'due_at',
        per_page: at_once,
      } as const
      return answerOf(api.GET('/api/v1/activities', { params: { query } }))
    },
    placeholderData: keepPreviousData,
  })
  const { data: counts } = useQuery({
    queryKey: ['reports', 'activities', zone],
    queryFn: () => dataOf(api.GET('/api/v1/reports/activities', { params: { query: { time_zone: zone } } })),
    enabled: useMay()('reports:read'),
  })

  // A completed task goes at once. Undo or an error brings it back.
  const tasks = data?.data.filter(({ completed_at }) => !completed_at)
  // The used button is gone. Focus the one in its place.
  // biome-ignore lint/correctness/useExhaustiveDependencies: run when the list has changed
  useEffect(() => {
    if (left_at.current === null) return
    const buttons = [...(list.current?.querySelectorAll('button') ?? [])]
    buttons[Math.min(left_at.current, buttons.length - 1)]?.focus()
    left_at.current = null
  }, [data])

  return (
    <Card
      title={t.home.today}
      area="tasks"
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
      {tasks?.length === 0 && <p className="hint">{t.home.nothing_due}</p>}
      <ul ref={list}>
        {tasks?.map((activity, index) => (
          <li key={activity.id} className="home-row">
            {may_complete && (
              <button
                type="button"
                className="home-complete icon-button"
                aria-label={t.activities.complete_one(activity.subject)}
                title={t.activities.complete_one(activity.subject)}
                onClick={() => {
                  left_at.current = index
                  complete([activity])
                }}
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
