import { HoverCard, Skeleton } from '@mantine/core'
import { type QueryKey, type UseQueryOptions, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Due, TypeLabel } from '../activities/parts.tsx'
import { activityQuery } from '../activities/queries.ts'
import { type Formats, useFormats } from '../app/formats.ts'
import { appointmentQuery } from '../calendar/appointments.ts'
import { bookingPageQuery } from '../calendar/booking.ts'
import { companyQuery } from '../companies/companies.ts'
import { contactQuery } from '../contacts/contacts.ts'
import { CloseDate } from '../deals/close-date.tsx'
import { dealQuery } from '../deals/deals.ts'
import { StageBadge } from '../deals/stage-badge.tsx'
import { type Texts, useTexts } from '../texts/texts.ts'
import { Money } from '../ui/values.tsx'
import { fullName } from './choices.ts'
import './linked.css'

// Lists show the same records again and again.
const kept_ms = 60_000
// Long enough that a mouse on its way over a list shows nothing.
const open_ms = 400

type Line = React.ReactNode

/** How the records of a kind are read, by the query of their page, and what a link's card tells of one beside its name. */
function kindOf<Found, Key extends QueryKey>(
  path: string,
  query: (id: number) => UseQueryOptions<Found, Error, Found, Key>,
  nameOf: (found: Found) => string,
  linesOf: (found: Found, t: Texts, formats: Formats) => Line[],
) {
  return {
    path,
    useName: (id: number | undefined): string | undefined =>
      useQuery({ ...query(id ?? 0), enabled: id !== undefined, staleTime: kept_ms, select: nameOf }).data,
    useCard(id: number): { name: string; lines: Line[] } | undefined {
      const t = useTexts()
      const formats = useFormats()
      const { data } = useQuery({ ...query(id), staleTime: kept_ms })
      return data && { name: nameOf(data), lines: linesOf(data, t, formats).filter(Boolean) }
    },
  }
}

const together = (...parts: (string | null | undefined)[]) => parts.filter(Boolean).join(' · ')

const kinds = {
  contacts: kindOf('/contacts', contactQuery, fullName, ({ title, company, email, phone, mobile, stage }) => [
    together(title, company?.name),
    email,
    phone ?? mobile,
    stage,
  ]),
  companies: kindOf(
    '/companies',
    companyQuery,
    ({ name }) => name,
    ({ industry, website, phone, address }) => [industry, website, phone, address],
  ),
  deals: kindOf(
    '/deals',
    dealQuery,
    ({ name }) => name,
    (deal) => [
      <StageBadge key="stage" stage={deal.stage} />,
      deal.value !== null && <Money key="value" value={deal.value} />,
      deal.expected_close_date && <CloseDate key="close" deal={deal} />,
      together(deal.company?.name, deal.contact && fullName(deal.contact)),
    ],
  ),
  activities: kindOf(
    '/activities',
    activityQuery,
    ({ subject }) => subject,
    (activity) => [
      <TypeLabel key="type" type={activity.type} />,
      activity.due_at && <Due key="due" activity={activity} />,
      activity.outcome,
    ],
  ),
  appointments: kindOf(
    '/calendar',
    appointmentQuery,
    ({ title }) => title,
    ({ start_at, status, location }, t, formats) => [
      formats.moment(start_at),
      location,
      status !== 'scheduled' && t.record[status],
    ],
  ),
  booking_pages: kindOf(
    '/booking-pages',
    bookingPageQuery,
    ({ title }) => title,
    ({ slug, duration_minutes, active }, t, formats) => [
      `/book/${slug}`,
      t.calendar.minutes(formats.number(duration_minutes)),
      active ? null : t.calendar.inactive,
    ],
  ),
}
export type RecordKind = keyof typeof kinds

const pathOf = (kind: RecordKind, id: number): string => `${kinds[kind].path}/${id}`

/** What a record is called; undefined while it is read, or when it is gone. */
export function useRecordName(kind: RecordKind, id: number | undefined): string | undefined {
  return kinds[kind].useName(id)
}

/** The same where a piece of a page is wanted: then it is its number. */
export function RecordName({ kind, id }: { kind: RecordKind; id: number }) {
  return useRecordName(kind, id) ?? `#${id}`
}

type LinkProps = {
  kind: RecordKind
  id: number
  /** Where it is not known, it is read. */
  name?: string | undefined
  className?: string
}

/** A link to a related record; under the mouse or with the focus of the keyboard, a card tells more of it. */
export function RecordLink({ kind, id, name, className = 'record-link' }: LinkProps) {
  return (
    <HoverCard
      role="tooltip"
      interactive
      openDelay={open_ms}
      position="bottom-start"
      shadow="md"
      withinPortal
    >
      <HoverCard.Target>
        <Link to={pathOf(kind, id)} className={className}>
          {name ?? <RecordName kind={kind} id={id} />}
        </Link>
      </HoverCard.Target>
      <HoverCard.Dropdown className="record-card">
        <CardOf kind={kind} id={id} />
      </HoverCard.Dropdown>
    </HoverCard>
  )
}

// It is there only as long as the card is open: nothing is read before.
function CardOf({ kind, id }: { kind: RecordKind; id: number }) {
  const told = kinds[kind].useCard(id)
  if (!told)
    return (
      <>
        <Skeleton height={12} width={120} my={4} />
        <Skeleton height={12} width={160} my={8} />
      </>
    )
  return (
    <>
      <strong>{told.name}</strong>
      {told.lines.map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines have nothing but their place
        <span key={index}>{line}</span>
      ))}
    </>
  )
}
