import { useFormats } from '../app/formats.ts'
import { late } from '../app/late.ts'
import type { Appointment, Entered, Times } from './appointments.ts'
import { Hours } from './hours.tsx'
import { type CalendarShow, type Days, eachDay, isWeekend } from './ranges.ts'
import './calendar.css'

// The calendar opens with its hours.
const CalendarList = late(async () => (await import('./calendar-list.tsx')).CalendarList)
const Month = late(async () => (await import('./month.tsx')).Month)

export type ViewProps = {
  show: CalendarShow
  /** The day that a list begins with. */
  day: string
  days: Days
  /** Whether the appointments are being read for the first time. */
  awaited: boolean
  appointments: Appointment[]
  /** The activities that are due in the view. */
  due: Entered[]
  /** Whether a week has its weekend. */
  weekend: boolean
  /** Whether these are all entries of the view: nothing is said of its emptiness before. */
  known: boolean
  /** Whether appointments may be moved, and created by dragging. */
  editable: boolean
  /** Called with a chosen day (YYYY-MM-DD). */
  onDay: (day: string) => void
  onOpen: (entry: Entered) => void
  onMove: (appointment: Entered, times: Times) => void
  onSelect: (times: Times | { day: string }) => void
  onCreate: () => void
}

/** Appointments in a month, week, day or list, in the person's zone. */
export function CalendarView(props: ViewProps) {
  const { show, day, days, awaited, weekend } = props
  const { zone, locale } = useFormats()
  const shown = eachDay(days.drawn_first, days.drawn_last).filter(
    (one) => weekend || show === 'day' || !isWeekend(one, locale),
  )
  const hours = show === 'week' || show === 'day'
  return (
    <div className="calendar-grid" aria-busy={awaited || undefined}>
      {hours && <Hours key={show} {...props} days={shown} zone={zone} />}
      {show === 'month' && <Month {...props} drawn_days={shown} zone={zone} />}
      {(show === 'list' || show === 'year') && <CalendarList key={`${show}${day}${awaited}`} {...props} />}
    </div>
  )
}
