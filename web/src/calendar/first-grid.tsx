import { useLayoutEffect, useMemo, useRef } from 'react'
import { useFormats } from '../app/formats.ts'
import { wallOf, zonedFormat } from '../app/zones.ts'
import { useTexts } from '../texts/texts.ts'
import { visible } from '../ui/visible.ts'
import { type Appointment, classOf, isLong } from './appointments.ts'
import type { GridProps } from './calendar-grid.tsx'
import { clockOf, type Days, eachDay } from './ranges.ts'
import { Host, Whom } from './whom.tsx'
import './first-grid.css'

const day_minutes = 1440
const first_hour = 7.5
// As in the other drawing, no appointment is lower than its text.
const least_minutes = 30

/** An appointment on one day, in minutes of the day, with its place beside those of the same time. */
type Placed = { appointment: Appointment; from: number; to: number; column: number; columns: number }

const minutesOf = (wall: string): number => Number(wall.slice(11, 13)) * 60 + Number(wall.slice(14, 16))

/** The appointments of a day. Appointments of the same time share its width. */
function placedOn(day: string, appointments: readonly Appointment[], zone: string): Placed[] {
  const placed: Placed[] = []
  let group: Placed[] = []
  let ends = 0
  for (const appointment of appointments) {
    const [start, end] = [wallOf(appointment.start_at, zone), wallOf(appointment.end_at, zone)]
    if (start.slice(0, 10) > day || end <= `${day}T00:00`) continue
    const from = start.slice(0, 10) < day ? 0 : minutesOf(start)
    const to = end.slice(0, 10) > day ? day_minutes : Math.max(minutesOf(end), from + least_minutes)
    if (from >= ends) {
      group = []
      ends = 0
    }
    ends = Math.max(ends, to)
    const taken = group.filter((one) => one.to > from).map(({ column }) => column)
    let column = 0
    while (taken.includes(column)) column++
    const one = { appointment, from, to, column, columns: 1 }
    group.push(one)
    placed.push(one)
    const columns = Math.max(...group.map((each) => each.column)) + 1
    for (const each of group) each.columns = columns
  }
  return placed
}

type Props = Pick<GridProps, 'show' | 'appointments' | 'known' | 'onOpen'> & { days: Days }

/**
 * The appointments of a view, before the program of the calendar is there. That program draws the same, and lets
 * appointments be moved.
 */
export function FirstGrid({ show, days, ...given }: Props) {
  if (show === 'week' || show === 'day') return <Hours days={eachDay(days.first, days.last)} {...given} />
  if (show === 'month') return <Month days={days} {...given} />
  return <List days={eachDay(days.first, days.last)} {...given} />
}

type DrawnDays = Omit<Props, 'show' | 'days'> & { days: string[] }

/** The formats of the days and times of the calendar. */
function useCalendarFormats() {
  const { locale, zone, today } = useFormats()
  return useMemo(() => {
    const time = zonedFormat(locale, zone, clockOf(locale))
    const hour = new Intl.DateTimeFormat(locale, { timeZone: 'UTC', ...clockOf(locale) })
    const dayIn = (options: Intl.DateTimeFormatOptions) => {
      const format = new Intl.DateTimeFormat(locale, { timeZone: 'UTC', ...options })
      return (day: string) => format.format(new Date(`${day}T00:00Z`))
    }
    return {
      zone,
      today: today(),
      time: (iso: string) => time(Date.parse(iso)),
      hour: (hour_of_day: number) => hour.format(hour_of_day * 3_600_000),
      head: dayIn({ weekday: 'short', day: 'numeric' }),
      weekday: dayIn({ weekday: 'short' }),
      number: dayIn({ day: 'numeric' }),
      long: dayIn({ weekday: 'long', day: 'numeric', month: 'long' }),
    }
  }, [locale, zone, today])
}

type EntryProps = Pick<Props, 'onOpen'> & {
  appointment: Appointment
  /** The time, in the zone of the person. */
  time: string
  host?: boolean
  block?: boolean
  style?: React.CSSProperties
}

function Entry({ appointment, time, onOpen, host, block, style }: EntryProps) {
  const lines = block && isLong(appointment)
  return (
    <button
      type="button"
      className={`${classOf(appointment)} first-entry${block ? ' calendar-block' : ''}`}
      style={style}
      onClick={() => onOpen(appointment.id)}
    >
      <span className="numbers">{time}</span>
      <span className="calendar-name">
        {host && lines && <Host id={appointment.owner_id} />}
        {visible(appointment.title)}
        {host && <Whom {...appointment} />}
      </span>
      {host && !lines && <Host id={appointment.owner_id} />}
    </button>
  )
}

/** Days with their hours. */
function Hours({ days, appointments, onOpen }: DrawnDays) {
  const { zone, today, time, hour, head } = useCalendarFormats()
  const t = useTexts()
  const scroll = useRef<HTMLElement>(null)
  useLayoutEffect(() => {
    const place = scroll.current
    const hours = place?.querySelector('.first-day')?.clientHeight ?? 0
    if (place) place.scrollTop = (hours * first_hour) / 24
  }, [])
  return (
    <section
      className="first-hours"
      style={{ '--days': days.length } as React.CSSProperties}
      ref={scroll}
      aria-label={t.calendar.appointments}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls the hours
      tabIndex={0}
    >
      <span className="first-head" />
      {days.map((day) => (
        <span key={day} className={day === today ? 'first-head calendar-today' : 'first-head'}>
          {head(day)}
        </span>
      ))}
      <div className="first-clock" aria-hidden>
        {Array.from({ length: 24 }, (_, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the hours of a day
          <span key={index}>{hour(index)}</span>
        ))}
      </div>
      {days.map((day) => (
        <div key={day} className="first-day" data-date={day} data-today={day === today || undefined}>
          {placedOn(day, appointments, zone).map(({ appointment, from, to, column, columns }) => (
            <Entry
              key={appointment.id}
              appointment={appointment}
              time={
                isLong(appointment)
                  ? `${time(appointment.start_at)}–${time(appointment.end_at)}`
                  : time(appointment.start_at)
              }
              host
              block
              onOpen={onOpen}
              style={{
                top: `${(from / day_minutes) * 100}%`,
                height: `${((to - from) / day_minutes) * 100}%`,
                left: `${(column / columns) * 100}%`,
                width: `calc(${100 / columns}% - 4px)`,
              }}
            />
          ))}
        </div>
      ))}
    </section>
  )
}

/** The appointments on a day, also those that began before. */
const onDay = (day: string, appointments: readonly Appointment[], zone: string): Appointment[] =>
  placedOn(day, appointments, zone).map(({ appointment }) => appointment)

// Three fit a day of the month. FullCalendar tells how many more there are.
const shown_in_month = 3

function Month({ days, appointments, onOpen }: Omit<DrawnDays, 'days'> & { days: Days }) {
  const { zone, today, time, weekday, number } = useCalendarFormats()
  const drawn = eachDay(days.drawn_first, days.drawn_last)
  return (
    <div className="first-month">
      {drawn.slice(0, 7).map((day) => (
        <span key={day} className="first-weekday">
          {weekday(day)}
        </span>
      ))}
      {drawn.map((day) => (
        <div
          key={day}
          className="first-cell"
          data-date={day}
          data-today={day === today || undefined}
          data-other={day < days.first || day >= days.last || undefined}
        >
          <span className={day === today ? 'first-number calendar-today' : 'first-number'}>
            {number(day)}
          </span>
          {onDay(day, appointments, zone)
            .slice(0, shown_in_month)
            .map((one) => (
              <Entry key={one.id} appointment={one} time={time(one.start_at)} onOpen={onOpen} />
            ))}
        </div>
      ))}
    </div>
  )
}

function List({ days, known, appointments, onOpen }: DrawnDays) {
  const { zone, time, long } = useCalendarFormats()
  const t = useTexts()
  const with_some = days
    .map((day) => [day, onDay(day, appointments, zone)] as const)
    .filter(([, some]) => some.length > 0)
  if (!with_some.length) return <p className="first-none">{known && t.calendar.nothing}</p>
  return (
    <div className="first-list">
      {with_some.map(([day, some]) => (
        <section key={day} aria-label={long(day)} data-date={day}>
          <h2>{long(day)}</h2>
          {some.map((one) => (
            <Entry
              key={one.id}
              appointment={one}
              time={`${time(one.start_at)}–${time(one.end_at)}`}
              host
              onOpen={onOpen}
            />
          ))}
        </section>
      ))}
    </div>
  )
}
