import { useFormats } from '../app/formats.ts'
import { late } from '../app/late.ts'
import type { Appointment, Times } from './appointments.ts'
import { CalendarList } from './calendar-list.tsx'
import { Hours } from './hours.tsx'
import { type CalendarShow, type Days, eachDay } from './ranges.ts'
import './calendar.css'

// The calendar opens with its hours.
const Month = late(async () => (await import('./month.tsx')).Month)

export type ViewProps = {
  show: CalendarShow
  /** The day that a list begins with. */
  day: string
  days: Days
  /** Whether the appointments are being read for the first time. */
  awaited: boolean
  appointments: Appointment[]
  /** Whether these are all appointments of the view: nothing is said of its emptiness before. */
  known: boolean
  /** Whether appointments may be moved, and created by dragging. */
  editable: boolean
  /** Called with a chosen day (YYYY-MM-DD). */
  onDay: (day: string) => void
  onOpen: (id: number) => void
  onMove: (appointment: Appointment, times: Times) => void
  onSelect: (times: Times | { day: string }) => void
  onCreate: () => void
}

/** Appointments in a month, week, day or list, in the person's zone. */
export function CalendarView(props: ViewProps) {
  const { show, day, days, awaited } = props
  const { zone } = useFormats()
  const hours = show === 'week' || show === 'day'
  return (
    <div className="calendar-grid" aria-busy={awaited || undefined}>
      {hours && <Hours key={show} {...props} days={eachDay(days.first, days.last)} zone={zone} />}
      {show === 'month' && <Month {...props} zone={zone} />}
      {(show === 'list' || show === 'year') && <CalendarList key={`${show}${day}${awaited}`} {...props} />}
    </div>
  )
}
