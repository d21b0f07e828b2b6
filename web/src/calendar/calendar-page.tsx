import { ActionIcon, Button, SegmentedControl } from '@mantine/core'
import { useLocalStorage, useMediaQuery } from '@mantine/hooks'
import { ChevronLeftIcon, ChevronRightIcon } from '@primer/octicons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useCallback, useMemo, useState } from 'react'
import { useCommands } from '../app/commands.ts'
import { laterDialog } from '../app/contained.tsx'
import { useFormats } from '../app/formats.ts'
import { late } from '../app/late.ts'
import { Link, useNavigate } from '../app/link.ts'
import { ProblemNote } from '../app/problems.tsx'
import { useMay, useSession } from '../app/session.ts'
import { instantOf, isDay, laterOnWall } from '../app/zones.ts'
import { useMineCommand } from '../record/fields/owner.tsx'
import { useNames } from '../record/kinds.ts'
import { useCustomFilters } from '../record/list/custom-lists.tsx'
import { ListMenu } from '../record/list/list-menu.tsx'
import { filtersOf } from '../record/list/list-query.ts'
import { lateRecord } from '../record/page/late-record.tsx'
import { ViewTabs } from '../record/views/views.tsx'
import { useTexts } from '../texts/texts.ts'
import { useListFilters } from '../ui/filters.tsx'
import { isId, useAddress, useListView, useOpen } from '../ui/list-view.ts'
import { NoMatches } from '../ui/no-matches.tsx'
import { Page } from '../ui/page.tsx'
import { SidePanel } from '../ui/panel.tsx'
import { useMinute } from '../ui/values.tsx'
import { useAppointmentFilters } from './appointment-filters.ts'
import {
  areOfBoth,
  dueQuery,
  type Entered,
  most_shown,
  queryOf,
  rangeQuery,
  type Times,
  useAppointmentActions,
} from './appointments.ts'
import { CalendarView } from './calendar-view.tsx'
import { HostColours, Hosts, useHostColours } from './hosts.tsx'
import { type CalendarShow, daysOf, stepFrom, timeOf, titleOf } from './ranges.ts'

const ClockChanges = late(async () => (await import('./clock-changes.tsx')).ClockChanges)

const CreateAppointment = laterDialog(
  async () => (await import('./create-appointment.tsx')).CreateAppointment,
)
const AppointmentRecord = lateRecord(async () => (await import('./appointment-record.tsx')).AppointmentRecord)

const desk_shows = ['month', 'week', 'day', 'list'] as const
// A week's seven columns do not fit on a phone.
const phone_shows = ['day', 'list'] as const
type Show = (typeof desk_shows)[number]
/** With a filter by one of these, the calendar is a list. */
const of_few = ['contact_id', 'deal_id', 'booking_page_id']
const morning = 'T09:00'
const none_due = { entries: [] as Entered[], more: false }

/** The calendar. The address holds the view and the date. */
export function CalendarPage() {
  const t = useTexts()
  const names = useNames('appointments')
  const pages = useNames('booking_pages')
  const formats = useFormats()
  const may = useMay()('appointments:write')
  const phone = useMediaQuery('(max-width: 40em)', false, { getInitialValueInEffect: false })
  const { address, latest, change } = useAddress()
  const { move } = useAppointmentActions()
  const { user } = useSession()
  const [creating, setCreating] = useState<Partial<Times> | null>(null)

  const shows: readonly Show[] = phone ? phone_shows : desk_shows
  const by_field = useAppointmentFilters()
  const by_custom_field = useCustomFilters('appointments')
  const filters = useMemo(() => [...by_field, ...by_custom_field], [by_field, by_custom_field])
  const view = useListView(filters)
  const filtering = useListFilters({ view, filters, search: false, custom: true })
  useMineCommand(view)
  // One contact, deal or booking page has few appointments.
  const few = of_few.some((name) => view.filters[name])
  const show = shows.find((one) => one === address.show) ?? (phone || few ? 'list' : 'week')
  // The list of a person has a month. Other filters leave so few appointments that it has twelve.
  const rare = Object.keys(view.filters).some((name) => name !== 'owner_id')
  const shown: CalendarShow = show === 'list' && rare ? 'year' : show
  const { zone, locale } = formats
  const today = formats.today()
  const day = dateOf(address.date) ?? today
  const days = useMemo(() => daysOf(shown, day, locale), [shown, day, locale])
  const range = useMemo(() => timeOf(days, zone), [days, zone])
  const asked = filtersOf(view.filters, filters, zone)
  const { data, error, refetch, isPlaceholderData } = useQuery({
    ...rangeQuery(range, asked),
    placeholderData: keepPreviousData,
  })

  const due = useDue(range, asked)
  const colourOf = useHostColours()
  const [weekend, setWeekend] = useLocalStorage({ key: `rapport-weekend-${user.id}`, defaultValue: true })
  useMinute()

  const inAddress = (day: string) => (day === today ? null : day)
  function go(by: 1 | -1) {
    const from = dateOf(latest().date) ?? today
    return change({ date: inAddress(stepFrom(shown, from, by, locale)) }, true)
  }
  const goToday = () => change({ date: null }, true)
  const create = () => setCreating({})
  const setOpen = useOpen()
  const navigate = useNavigate()
  const open = ({ id, activity }: Entered) => (activity ? navigate({ to: `/activities/${id}` }) : setOpen(id))
  const close = useCallback(() => setOpen(null), [setOpen])
  useCommands(
    [{ id: 'create-appointment', label: names.create, group: 'create', keys: 'c', run: create }],
    may,
  )
  const stepping = { group: 'actions' as const, repeats: true }
  useCommands([
    { id: 'calendar-today', label: t.calendar.today, group: 'actions', keys: 't', run: goToday },
    { ...stepping, id: 'calendar-earlier', label: t.calendar.earlier, keys: 'k', run: () => go(-1) },
    { ...stepping, id: 'calendar-later', label: t.calendar.later, keys: 'j', run: () => go(1) },
  ])
  return (
    <Page
      title={names.page ?? names.many}
      switcher={
        <SegmentedControl
          size="xs"
          aria-label={t.calendar.switch}
          value={show}
          onChange={(to) => change({ show: to })}
          data={shows.map((value) => ({ value, label: t.calendar.shows[value] }))}
        />
      }
      middle={
        <>
          <Steps title={titleOf(shown, days, locale)} onToday={goToday} onStep={go} />
          {filtering.line}
        </>
      }
      tabs={<ViewTabs list="appointments" />}
      below={filtering.chips}
      actions={
        <>
          <Button variant="default" component={Link} to="/booking-pages" className="not-on-phone">
            {pages.many}
          </Button>
          <ListMenu kind="appointments" query={queryOf(range, asked)} />
          {may && <Button onClick={create}>{names.create}</Button>}
        </>
      }
    >
      <div className="calendar">
        {error && <ProblemNote error={error} onRetry={refetch} />}
        {!error && due.error && <ProblemNote error={due.error} onRetry={due.refetch} />}
        {may && <ClockChanges />}
        {view.filtered && data?.appointments.length === 0 && (
          <NoMatches line many={names.in_sentence.many} view={view} filters={filters} />
        )}
        <HostColours value={colourOf}>
          <CalendarView
            show={shown}
            day={day}
            days={days}
            awaited={!data && !error}
            known={data !== undefined && !isPlaceholderData && due.known}
            appointments={data?.appointments ?? []}
            editable={may}
            onDay={(day) => change({ show: 'day', date: inAddress(day) })}
            due={due.entries}
            weekend={weekend}
            onOpen={open}
            onMove={(entry, times) => {
              const moved = data?.appointments.find(({ id }) => id === entry.id)
              if (moved) move(moved, times)
            }}
            onCreate={create}
            onSelect={(chosen) => setCreating('day' in chosen ? morningOf(chosen.day, zone) : chosen)}
          />
        </HostColours>
        <div className="calendar-note">
          <Hosts entries={[...(data?.appointments ?? []), ...due.entries]} colourOf={colourOf} />
          {t.calendar.zone({ zone })}
          {(data?.more || due.more) && ` · ${t.calendar.too_many({ n: most_shown })}`}
          {(show === 'week' || show === 'month') && (
            <>
              {' · '}
              <button type="button" className="calendar-link" onClick={() => setWeekend(!weekend)}>
                {weekend ? t.calendar.hide_weekend : t.calendar.show_weekend}
              </button>
            </>
          )}
        </div>
      </div>
      {isId(address.open) && (
        <SidePanel label={t.calendar.facts} href={`/calendar/${address.open}`} onClose={close}>
          <AppointmentRecord key={address.open} id={Number(address.open)} panel onLeave={close} />
        </SidePanel>
      )}
      {may && (
        <CreateAppointment
          opened={creating !== null}
          onClose={() => setCreating(null)}
          initial={creating ?? {}}
        />
      )}
    </Page>
  )
}

/** The activities that are due in a time; none if the person may not see them, or the filters are of appointments alone. */
function useDue(range: Parameters<typeof dueQuery>[0], asked: Parameters<typeof dueQuery>[1]) {
  const enabled = useMay()('activities:read') && areOfBoth(asked)
  const query = { ...dueQuery(range, asked), placeholderData: keepPreviousData, enabled }
  const { data, error, refetch, isPlaceholderData } = useQuery(query)
  if (!enabled) return { ...none_due, known: true, error: null, refetch }
  return { ...(data ?? none_due), known: data !== undefined && !isPlaceholderData, error, refetch }
}

/** The date in the address; undefined (today) if invalid. */
const dateOf = (text = ''): string | undefined => (isDay(text) && /^[12]/.test(text) ? text : undefined)

/** The times of an appointment at nine o'clock. */
const morningOf = (day: string, zone: string): Times => ({
  start_at: instantOf(day + morning, zone),
  end_at: instantOf(laterOnWall(day + morning, 30, zone), zone),
})

type StepsProps = { title: string; onToday: () => void; onStep: (by: 1 | -1) => void }

/** The title of the shown days, and the buttons for others. */
function Steps({ title, onToday, onStep }: StepsProps) {
  const { calendar } = useTexts()
  return (
    <>
      <Button variant="default" onClick={onToday}>
        {calendar.today}
      </Button>
      <ActionIcon.Group>
        <ActionIcon variant="default" size={30} aria-label={calendar.earlier} onClick={() => onStep(-1)}>
          <ChevronLeftIcon />
        </ActionIcon>
        <ActionIcon variant="default" size={30} aria-label={calendar.later} onClick={() => onStep(1)}>
          <ChevronRightIcon />
        </ActionIcon>
      </ActionIcon.Group>
      <span className="calendar-title" aria-live="polite">
        {title}
      </span>
    </>
  )
}
