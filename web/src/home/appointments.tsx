import { useQuery } from '@tanstack/react-query'
import { useFormats } from '../app/formats.ts'
import { Link } from '../app/link.ts'
import { RecordLink } from '../record/linked.tsx'
import { useTexts } from '../texts/texts.ts'
import { fullName } from '../ui/full-name.ts'
import { Card } from './card.tsx'
import { nextAppointmentsQuery, requestsQuery } from './queries.ts'

/** The next appointments of the person. */
export function NextAppointments() {
  const { home } = useTexts()
  const formats = useFormats()
  const { data, error, refetch } = useQuery(nextAppointmentsQuery)
  const { data: requests } = useQuery(requestsQuery)
  return (
    <Card
      title={home.appointments}
      beside={
        requests ? (
          <Link to="/calendar" search={{ status: 'requested', show: 'list' }}>
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
              {formats.weekday(start_at)}, {formats.time(start_at)}
            </time>
          </li>
        ))}
      </ul>
    </Card>
  )
}
