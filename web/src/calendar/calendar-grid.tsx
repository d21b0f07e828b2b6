import FullCalendar, {
  type CalendarController,
  type DatesSetInfo,
  type EventClickInfo,
  type EventDisplayInfo,
  type EventInput,
} from '@fullcalendar/react'
import dayGrid from '@fullcalendar/react/daygrid'
import interaction from '@fullcalendar/react/interaction'
import list from '@fullcalendar/react/list'
import theme from '@fullcalendar/react/themes/classic'
import timeGrid from '@fullcalendar/react/timegrid'
import '@fullcalendar/react/skeleton.css'
import '@fullcalendar/react/themes/classic/theme.css'
import { useMemo, useState } from 'react'
import { useFormats } from '../app/formats.ts'
import { wallOf } from '../app/zones.ts'
import { OwnerAvatar } from '../record/owner.tsx'
import { useTexts } from '../texts/texts.ts'
import type { Appointment, Times } from './appointments.ts'
import './calendar.css'

/** Two-digit hours on a 24-hour clock: 09:00, but 9:00 AM. */
function clockOf(locale: string) {
  const { hour12 } = new Intl.DateTimeFormat(locale, { hour: 'numeric' }).resolvedOptions()
  return { hour: hour12 ? ('numeric' as const) : ('2-digit' as const), minute: '2-digit' as const }
}
const plugins = [theme, dayGrid, timeGrid, list, interaction]
/** The view names of the calendar library. */
export const views = {
  month: 'dayGridMonth',
  week: 'timeGridWeek',
  day: 'timeGridDay',
  list: 'listMonth',
  /** All appointments of a contact or booking page. */
  year: 'listYear',
} as const
export type CalendarShow = keyof typeof views

type Props = {
  controller: CalendarController
  show: CalendarShow
  date: string | undefined
  appointments: Appointment[]
  /** Whether appointments may be moved, and created by dragging. */
  editable: boolean
  onDates: (info: DatesSetInfo) => void
  /** Called with the chosen day (YYYY-MM-DD) of a month. */
  onDay: (day: string) => void
  onOpen: (id: number) => void
  onMove: (appointment: Appointment, times: Times) => void
  onSelect: (times: Times | { day: string }) => void
}

/** The first day of the week in the person's locale; 0 is Sunday. */
function firstDayOf(locale: string): number {
  const known = new Intl.Locale(locale) as Intl.Locale & {
    getWeekInfo?: () => { firstDay: number }
    weekInfo?: { firstDay: number }
  }
  return ((known.getWeekInfo?.() ?? known.weekInfo)?.firstDay ?? 1) % 7
}

/** Lets the keyboard scroll empty hours. Only rows of a table accept a role here. */
function focusHours(view: HTMLElement): void {
  for (const part of view.querySelectorAll('*')) {
    const scrolls = /auto|scroll/.test(getComputedStyle(part).overflowY)
    if (scrolls && !part.querySelector('a, button'))
      part.querySelector('[role=row]')?.setAttribute('tabindex', '0')
  }
}

const hour_ms = 3_600_000

/** The content of an appointment: time, title and host. The rows of a month have no room for the host. */
function contentOf({ event, view, timeText, timeClass, titleClass }: EventDisplayInfo) {
  if (view.type === views.month) return true
  // Times that are being chosen have no appointment yet.
  const appointment = event.extendedProps.appointment as Appointment | undefined
  return (
    <>
      {/* A German range of times ends with a word, which takes the room of the title. */}
      {timeText && <div className={timeClass}>{timeText.replace(/ Uhr$/, '')}</div>}
      <div className={`${titleClass} calendar-name`}>{event.title}</div>
      {appointment && (
        <span className="calendar-host">
          <OwnerAvatar kind="appointments" id={appointment.owner_id} />
        </span>
      )}
    </>
  )
}

/** Appointments in a month, week, day or list, in the person's zone. */
export default function CalendarGrid(props: Props) {
  const { controller, show, date, appointments, editable, onDates, onDay, onOpen, onMove, onSelect } = props
  const t = useTexts()
  const { locale, zone } = useFormats()
  const [settled, setSettled] = useState(false)
  const clock = useMemo(() => clockOf(locale), [locale])
  const events = useMemo(
    () =>
      appointments.map((appointment): EventInput => {
        const { status } = appointment
        const cancelled = status === 'cancelled' || status === 'declined'
        const marks = { requested: ' calendar-requested', scheduled: '', cancelled: ' calendar-cancelled' }
        return {
          id: String(appointment.id),
          title: appointment.title,
          start: appointment.start_at,
          end: appointment.end_at,
          editable: editable && !cancelled,
          className: `calendar-event${marks[status === 'declined' ? 'cancelled' : status]}${
            Date.parse(appointment.end_at) - Date.parse(appointment.start_at) >= hour_ms
              ? ' calendar-long'
              : ''
          }`,
          extendedProps: { appointment },
        }
      }),
    [appointments, editable],
  )
  function move({ event }: { event: EventClickInfo['event'] }) {
    const appointment = event.extendedProps.appointment as Appointment
    if (event.start && event.end)
      onMove(appointment, { start_at: event.start.toISOString(), end_at: event.end.toISOString() })
  }
  return (
    <div className="calendar-inside" data-settled={settled}>
      <FullCalendar
        controller={controller}
        plugins={plugins}
        initialView={views[show]}
        {...(date && { initialDate: date })}
        timeZone={zone}
        locale={locale}
        firstDay={firstDayOf(locale)}
        headerToolbar={false}
        height="100%"
        borderless
        nowIndicator
        allDaySlot={false}
        dayMaxEvents
        fixedWeekCount={false}
        navLinks
        views={{ timeGrid: { navLinks: false } }}
        blockEventClass="calendar-block"
        scrollTime="07:30:00"
        slotDuration="00:30:00"
        snapDuration="00:15:00"
        eventTimeFormat={clock}
        slotHeaderFormat={clock}
        eventMinHeight={24}
        forceEventDuration
        events={events}
        eventContent={contentOf}
        editable={editable}
        selectable={editable}
        selectMirror
        datesSet={onDates}
        viewDidMount={({ el }) => {
          focusHours(el)
          // The library measures the first drawing, and lays the hours out anew in the next one.
          requestAnimationFrame(() => requestAnimationFrame(() => setSettled(true)))
        }}
        eventClick={({ event, jsEvent }) => {
          jsEvent.preventDefault()
          onOpen(Number(event.id))
        }}
        eventDrop={move}
        eventResize={move}
        select={({ allDay, start, end, startStr }) =>
          onSelect(
            allDay
              ? { day: startStr.slice(0, 10) }
              : { start_at: start.toISOString(), end_at: end.toISOString() },
          )
        }
        moreLinkText={(n) => t.calendar.more({ n })}
        moreLinkHint={(n) => t.calendar.more_hint({ n })}
        navLinkHint={t.calendar.go_to_day}
        navLinkDayClick={(day) => onDay(wallOf(day.toISOString(), zone).slice(0, 10))}
        noEventsText={t.calendar.nothing}
        closeHint={t.app.close}
        eventsHint={t.calendar.appointments}
      />
    </div>
  )
}
