import FullCalendar, {
  type EventClickInfo,
  type EventDisplayInfo,
  type EventInput,
  useCalendarController,
} from '@fullcalendar/react'
import dayGrid from '@fullcalendar/react/daygrid'
import interaction from '@fullcalendar/react/interaction'
import list from '@fullcalendar/react/list'
import theme from '@fullcalendar/react/themes/classic'
import timeGrid from '@fullcalendar/react/timegrid'
import '@fullcalendar/react/skeleton.css'
import '@fullcalendar/react/themes/classic/theme.css'
import { useEffect, useMemo, useState } from 'react'
import { useFormats } from '../app/formats.ts'
import { wallOf, zoneAt } from '../app/zones.ts'
import { useNames } from '../record/kinds.ts'
import { useTexts } from '../texts/texts.ts'
import { Empty } from '../ui/empty.tsx'
import { type Appointment, classOf, isCancelled, isLong, type Times } from './appointments.ts'
import { type CalendarShow, clockOf, firstDayOf } from './ranges.ts'
import { Host, Whom } from './whom.tsx'
import './calendar.css'

const plugins = [theme, dayGrid, timeGrid, list, interaction]
/** The view names of the calendar library. */
const views = {
  month: 'dayGridMonth',
  week: 'timeGridWeek',
  day: 'timeGridDay',
  list: 'listMonth',
  year: 'listTwelveMonths',
} as const satisfies Record<CalendarShow, string>

export type GridProps = {
  show: CalendarShow
  /** A day of the view; of a year, the first one. */
  day: string
  appointments: Appointment[]
  /** Whether these are all appointments of the view: nothing is said of its emptiness before. */
  known: boolean
  /** Whether appointments may be moved, and created by dragging. */
  editable: boolean
  /** Called with the chosen day (YYYY-MM-DD) of a month. */
  onDay: (day: string) => void
  onOpen: (id: number) => void
  onMove: (appointment: Appointment, times: Times) => void
  onSelect: (times: Times | { day: string }) => void
  onCreate: () => void
  /** The calendar is laid out. */
  onSettled: () => void
}

/** Lets the keyboard scroll empty hours. Only rows of a table accept a role here. */
function focusHours(view: HTMLElement): void {
  for (const part of view.querySelectorAll('*')) {
    const scrolls = /auto|scroll/.test(getComputedStyle(part).overflowY)
    if (scrolls && !part.querySelector('a, button'))
      part.querySelector('[role=row]')?.setAttribute('tabindex', '0')
  }
}

/** The content of an appointment: time, title, contact and host. The rows of a month have room for time and title. */
function Content({ event, view, timeText, timeClass, titleClass }: EventDisplayInfo) {
  const formats = useFormats()
  // Times that are being chosen have no appointment yet.
  const appointment =
    view.type === views.month ? undefined : (event.extendedProps.appointment as Appointment | undefined)
  const among_hours = view.type === views.week || view.type === views.day
  const listed = view.type === views.list || view.type === views.year
  const brief = among_hours && appointment && event.start && !isLong(appointment)
  const lines = among_hours && !brief
  // A German range of times ends with a word, which takes the room of the title.
  const time = brief ? formats.time(event.start.toISOString()) : timeText.replace(/ Uhr$/, '')
  return (
    <>
      {time && <div className={listed ? `${timeClass} calendar-listed-time` : timeClass}>{time}</div>}
      <div className={`${titleClass} calendar-name${appointment ? ' calendar-lines' : ''}`}>
        {appointment && lines && <Host id={appointment.owner_id} />}
        {event.title}
        {appointment && <Whom {...appointment} />}
      </div>
      {appointment && !lines && <Host id={appointment.owner_id} />}
    </>
  )
}

const todayClass = ({ isToday }: { isToday: boolean }) => (isToday ? 'calendar-today' : '')

/** Appointments in a month, week, day or list, in the person's zone. */
export function CalendarGrid(props: GridProps) {
  const { show, day, known, appointments, editable, onDay, onOpen, onMove, onSelect, onCreate, onSettled } =
    props
  const controller = useCalendarController()
  const t = useTexts()
  const names = useNames('appointments')
  const { locale, zone } = useFormats()
  const [settled, setSettled] = useState(false)
  const clock = useMemo(() => clockOf(locale), [locale])
  const events = useMemo(
    () =>
      appointments.map((appointment): EventInput => {
        return {
          id: String(appointment.id),
          title: appointment.title,
          start: appointment.start_at,
          end: appointment.end_at,
          editable: editable && !isCancelled(appointment),
          className: classOf(appointment),
          extendedProps: { appointment },
        }
      }),
    [appointments, editable],
  )
  useEffect(() => {
    if (!controller.view) return
    controller.gotoDate(day)
    if (controller.view.type !== views[show]) controller.changeView(views[show])
  }, [controller, show, day])
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
        initialDate={day}
        timeZone={zoneAt(Date.parse(day), zone)}
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
        views={{ timeGrid: { navLinks: false }, [views.year]: { type: 'list', duration: { months: 12 } } }}
        blockEventClass="calendar-block"
        scrollTime="07:30:00"
        slotDuration="00:30:00"
        snapDuration="00:15:00"
        eventTimeFormat={clock}
        slotHeaderFormat={clock}
        eventMinHeight={24}
        forceEventDuration
        events={events}
        eventContent={(info) => <Content {...info} />}
        dayHeaderClass={todayClass}
        dayCellTopInnerClass={todayClass}
        editable={editable}
        selectable={editable}
        selectMirror
        viewDidMount={({ el }) => {
          focusHours(el)
          // The library measures the first drawing, and lays the hours out anew in the next one.
          requestAnimationFrame(() =>
            requestAnimationFrame(() => {
              setSettled(true)
              onSettled()
            }),
          )
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
        noEventsClass="calendar-none"
        noEventsContent={() =>
          known && (
            <Empty
              text={t.calendar.nothing}
              {...(editable && { action: names.create, onAction: onCreate })}
            />
          )
        }
        closeHint={t.app.close}
        eventsHint={t.calendar.appointments}
      />
    </div>
  )
}
