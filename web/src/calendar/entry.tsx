import { useContext, useMemo } from 'react'
import { ActivityIcon } from '../activities/labels.tsx'
import type { ListedActivity } from '../activities/queries.ts'
import { useFormats } from '../app/formats.ts'
import { addDays, startOfDay, wallOf, zonedFormat } from '../app/zones.ts'
import { useTexts } from '../texts/texts.ts'
import { visible } from '../ui/visible.ts'
import { classOf, type Entered, isLong, type Times } from './appointments.ts'
import { HostColours } from './hosts.tsx'
import { clockOf } from './ranges.ts'
import { Host, Whom } from './whom.tsx'

export const day_minutes = 1440
// No appointment is lower than its text.
const least_minutes = 30

/** The formats of the days and times of the calendar. */
export function useCalendarFormats() {
  const { locale, zone, today } = useFormats()
  return useMemo(() => {
    const time = zonedFormat(locale, zone, clockOf(locale))
    const hour = new Intl.DateTimeFormat(locale, { timeZone: 'UTC', ...clockOf(locale) })
    const dayIn = (options: Intl.DateTimeFormatOptions) => {
      const format = new Intl.DateTimeFormat(locale, { timeZone: 'UTC', ...options })
      return (day: string) => format.format(new Date(`${day}T00:00Z`))
    }
    const at = (iso: string) => time(Date.parse(iso))
    const range = ({ start_at, end_at }: Times) => `${at(start_at)}–${at(end_at)}`
    const begins = (day: string, { start_at }: Times) => wallOf(start_at, zone).slice(0, 10) === day
    const ends = (day: string, { end_at }: Times) => wallOf(end_at, zone) <= `${addDays(day, 1)}T00:00`
    /** Of an appointment that began before the day: only its end, if that is on the day. */
    const rest = (day: string, of: Times) => (ends(day, of) ? `–${at(of.end_at)}` : '')
    return {
      zone,
      today: today(),
      range,
      startOn: (day: string, of: Times) => (begins(day, of) ? at(of.start_at) : rest(day, of)),
      rangeOn: (day: string, of: Times) => {
        if (!begins(day, of)) return rest(day, of)
        return ends(day, of) ? range(of) : `${at(of.start_at)}–`
      },
      hour: (hour_of_day: number) => hour.format(hour_of_day * 3_600_000),
      head: dayIn({ weekday: 'short', day: 'numeric' }),
      short_weekday: dayIn({ weekday: 'short' }),
      weekday: dayIn({ weekday: 'long' }),
      number: dayIn({ day: 'numeric' }),
      date: dayIn({ day: 'numeric', month: 'long', year: 'numeric' }),
    }
  }, [locale, zone, today])
}

type EntryProps = {
  appointment: Entered
  /** The time on its day, in the zone of the person. */
  time: string
  host?: boolean
  block?: boolean
  /** Above the hours. */
  whole?: boolean
  style?: React.CSSProperties
  onOpen: (entry: Entered) => void
  onPointerDown?: (event: React.PointerEvent) => void
  children?: React.ReactNode
}

export function Entry({
  appointment,
  time,
  onOpen,
  host,
  block,
  whole,
  style,
  children,
  ...more
}: EntryProps) {
  const lines = block && isLong(appointment)
  const colour = useContext(HostColours)
  const { activity } = appointment
  return (
    <button
      type="button"
      className={`${classOf(appointment)} calendar-entry${block ? ' calendar-block' : ''}${whole ? ' calendar-whole' : ''}`}
      onClick={(event) => {
        event.stopPropagation()
        onOpen(appointment)
      }}
      {...more}
      style={{ ...colour(appointment.owner_id), ...style }}
    >
      {activity && <ActivitySign type={activity.type} />}
      {(time || !block) && <span className="numbers">{time}</span>}
      <span className="calendar-name">
        {host && lines && <Host id={appointment.owner_id} />}
        {visible(appointment.title)}
        {host && <Whom {...appointment} />}
      </span>
      {host && !lines && <Host id={appointment.owner_id} />}
      {children}
    </button>
  )
}

function ActivitySign({ type }: Pick<ListedActivity, 'type'>) {
  const t = useTexts()
  return (
    <span className="calendar-sign" role="img" aria-label={t.activities.types[type]}>
      <ActivityIcon type={type} size={12} />
    </span>
  )
}

/** A time on one day, in minutes of the day, with its place beside others of the same time. */
export type Placed<Of> = { of: Of; from: number; to: number; column: number; columns: number }

const minutesOf = (wall: string): number => Number(wall.slice(11, 13)) * 60 + Number(wall.slice(14, 16))

/** The appointments of a day, also those that began before. Appointments of the same time share its width. */
export function placedOn<Of extends Times>(day: string, times: readonly Of[], zone: string): Placed<Of>[] {
  const placed: Placed<Of>[] = []
  let group: Placed<Of>[] = []
  let ends = 0
  for (const of of times) {
    const [start, end] = [wallOf(of.start_at, zone), wallOf(of.end_at, zone)]
    if (start.slice(0, 10) > day || end <= `${day}T00:00`) continue
    const from = start.slice(0, 10) < day ? 0 : minutesOf(start)
    // Where the clock is set back, the wall clock shows less than the time that passes.
    const begun_ms = Math.max(Date.parse(of.start_at), Date.parse(startOfDay(day, zone)))
    const passes = (Date.parse(of.end_at) - begun_ms) / 60_000
    const lowest = Math.min(day_minutes, from + Math.max(least_minutes, passes))
    const to = end.slice(0, 10) > day ? day_minutes : Math.max(minutesOf(end), lowest)
    if (from >= ends) {
      group = []
      ends = 0
    }
    ends = Math.max(ends, to)
    const taken = group.filter((one) => one.to > from).map(({ column }) => column)
    let column = 0
    while (taken.includes(column)) column++
    const one = { of, from, to, column, columns: 1 }
    group.push(one)
    placed.push(one)
    const columns = Math.max(...group.map((each) => each.column)) + 1
    for (const each of group) each.columns = columns
  }
  return placed
}

export const onDayOf = <Of extends Times>(day: string, appointments: readonly Of[], zone: string): Of[] =>
  placedOn(day, appointments, zone).map(({ of }) => of)
