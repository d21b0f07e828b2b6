import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { answerOf, api, dataOf } from '../api/client.ts'
import { useFormats } from '../app/formats.ts'
import { RecordLink } from '../record/linked.tsx'
import { useTexts } from '../texts/texts.ts'
import { fullName } from '../ui/full-name.ts'
import type { Address } from '../ui/list-view.ts'
import { Card } from './card.tsx'
import { mine } from './mine.ts'

/** The next appointments of the person. */
export function NextAppointments() {
  const { home } = useTexts()
  const formats = useFormats()
  const day = new Intl.DateTimeFormat(formats.locale, {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    timeZone: formats.zone,
  })
  const { data, error, refetch } = useQuery({
    queryKey: ['appointments', 'next'],
    queryFn: ({ signal }) => {
      const start_from = new Date().toISOString()
      const query = {
        status: 'scheduled',
        owner_id: mine,
        details: 'true',
        start_from,
        sort: 'start_at',
        per_page: 6,
      } as const
      return dataOf(api.GET('/api/v1/appointments', { params: { query }, signal }))
    },
  })
  const { data: requests } = useQuery({
    queryKey: ['appointments', 'requests'],
    queryFn: async ({ signal }) => {
      const query = { status: 'requested', per_page: 1 } as const
      const { meta } = await answerOf(api.GET('/api/v1/appointments', { params: { query }, signal }))
      return meta.total ?? 0
    },
  })
  return (
    <Card
      title={home.appointments}
      beside={
        requests ? (
          <Link to="/calendar" search={{ status: 'requested', show: 'list' } satisfies Address}>
            {home.requests({ n: requests })}
          </Link>
        ) : null
      }
      area="appointments"
      waiting={!data}
      error={error}
      onRetry={refetch}
      more={{ to: '/calendar', label: home.all_appointments }}
    >
      {data?.length === 0 && <p className="hint">{home.no_appointments}</p>}
      <ul>
        {data?.map(({ id, title, start_at, contact, location }) => (
          <li key={id} className="home-row">
            <span className="home-row-two">
              <Link to={`/calendar/${id}`} className="home-row-name">
                {title}
              </Link>
              {(contact || location) && (
                <span className="hint home-row-below home-row-names">
                  {contact && <RecordLink kind="contacts" id={contact.id} name={fullName(contact)} />}
                  {location && <span className="one-line">{location}</span>}
                </span>
              )}
            </span>
            <time dateTime={start_at} title={formats.exact(start_at)} className="home-row-side numbers">
              {day.format(new Date(start_at))}, {formats.time(start_at)}
            </time>
          </li>
        ))}
      </ul>
    </Card>
  )
}
