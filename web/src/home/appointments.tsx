import { useQuery } from '@tanstack/react-query'
import { useFormats } from '../app/formats.ts'
import { Link } from '../app/link.ts'
import { RecordLink } from '../record/fields/linked.tsx'
import { useTexts } from '../texts/texts.ts'
import { fullName } from '../ui/full-name.ts'
import { Card } from './card.tsx'
import { nextAppointmentsQuery, requestsQuery } from './queries.ts'

/** The appointments of the person that run now or come next. */
export function NextAppointments() {
  const { home } = useTexts()
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
        {data?.map(({ id, title, start_at, end_at, contact, location }) => (
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
            <Time start_at={start_at} end_at={end_at} />
          </li>
        ))}
      </ul>
    </Card>
  )
}

/** The begin of an appointment; the end of one that runs. */
function Time({ start_at, end_at }: { start_at: string; end_at: string }) {
  const { home } = useTexts()
  const formats = useFormats()
  const runs = Date.parse(start_at) <= Date.now()
  const at = runs ? end_at : start_at
  const time = `${formats.weekday(at)}, ${formats.time(at)}`
  return (
    <time dateTime={at} title={formats.exact(at)} className="home-row-side numbers">
      {runs ? home.until({ time }) : time}
    </time>
  )
}
