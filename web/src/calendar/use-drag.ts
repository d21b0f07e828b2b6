import { useRef, useState } from 'react'
import { scrollAtEdges } from '../ui/drag-scroll.ts'
import {
  type Appointment,
  byStart,
  type Entered,
  instantAt,
  isCancelled,
  movedTo,
  type Times,
  wallMs,
} from './appointments.ts'

const minute_ms = 60_000
const snap_ms = 15 * minute_ms
const least_ms = 30 * minute_ms
// A smaller movement is a click.
const least_px = 4

type Where = {
  place: React.RefObject<HTMLElement | null>
  zone: string
  appointments: Appointment[]
  editable: boolean
  onMove: (appointment: Entered, times: Times) => void
  onSelect: (times: Times) => void
}

const snapped = (ms: number, round = Math.round): number => round(ms / snap_ms) * snap_ms

/**
 * The local time below the pointer: of a day with hours by its height, of other days their begin. `whole`: of the days above the
 * hours.
 */
function timeAt({ clientX, clientY }: PointerEvent, place: HTMLElement, whole: boolean): number {
  const days = [...place.querySelectorAll<HTMLElement>(whole ? '[data-whole]' : '[data-date]')]
  const boxes = days.map((day) => [day, day.getBoundingClientRect()] as const)
  const first = boxes[0] as (typeof boxes)[0]
  const [x, y] = [Math.max(clientX, first[1].left), Math.max(clientY, first[1].top)]
  const [day, box] = boxes.findLast(([, { left, top }]) => left <= x && top <= y) ?? first
  const share = Math.min(1, Math.max(0, (clientY - box.top) / box.height))
  const hours = day.matches('.calendar-day')
  return (
    Date.parse(`${day.dataset.whole ?? day.dataset.date}T00:00Z`) + (hours ? share * 1440 * minute_ms : 0)
  )
}

/**
 * Lets the mouse move appointments, change their ends, and choose free times. Fingers scroll: a tap opens an appointment, or
 * chooses half an hour.
 */
export function useDrag({ place, zone, appointments, editable, onMove, onSelect }: Where) {
  const [dragged, setDragged] = useState<(Times & { appointment?: Entered }) | null>(null)
  const dropped = useRef(false)

  function timesFrom(from_ms: number, to_ms: number, appointment?: Entered, end?: boolean): Times {
    if (!appointment) {
      const start_ms = snapped(Math.min(from_ms, to_ms), Math.floor)
      const end_ms = Math.max(snapped(Math.max(from_ms, to_ms), Math.ceil), start_ms + least_ms)
      return { start_at: instantAt(start_ms, zone), end_at: instantAt(end_ms, zone) }
    }
    const { start_at, end_at } = appointment
    const by_ms = snapped(to_ms - from_ms)
    if (end) {
      const end_ms = Math.max(wallMs(end_at, zone) + by_ms, wallMs(start_at, zone) + snap_ms)
      return { start_at, end_at: instantAt(end_ms, zone) }
    }
    return movedTo(wallMs(start_at, zone) + by_ms, appointment, zone)
  }

  /** The click that follows the release would open the appointment, or the day. */
  function ignoreClick() {
    dropped.current = true
    setTimeout(() => {
      dropped.current = false
    })
  }

  /** Follows a pointer that was pressed on an appointment, or on free time. */
  function press(down: React.PointerEvent, appointment?: Entered) {
    const { current } = place
    down.stopPropagation()
    const fixed = appointment && (appointment.activity || isCancelled(appointment))
    if (!current || !editable || down.button !== 0 || fixed) return
    const end = (down.target as HTMLElement).matches('.calendar-end')
    const whole = down.currentTarget.matches('.calendar-whole')
    const touch = down.pointerType === 'touch'
    const from_ms = timeAt(down.nativeEvent, current, whole)
    const following = new AbortController()
    const { signal } = following
    let stopScrolling: (() => void) | undefined
    let times: Times | undefined
    function stop() {
      following.abort()
      stopScrolling?.()
      setDragged(null)
    }
    function follow(at: PointerEvent) {
      const moved = Math.hypot(at.clientX - down.clientX, at.clientY - down.clientY) >= least_px
      if (touch || !current || (!times && !moved)) return
      // Do not scroll while an appointment at an edge is dragged away from it.
      const { top, height } = current.getBoundingClientRect()
      if ((at.clientY - down.clientY) * (at.clientY - top - height / 2) > 0)
        stopScrolling ??= scrollAtEdges(current)
      times = timesFrom(from_ms, timeAt(at, current, whole), appointment, end)
      setDragged({ ...times, appointment })
    }
    function putBack({ key }: KeyboardEvent) {
      if (key !== 'Escape') return
      stop()
      if (times) addEventListener('pointerup', ignoreClick, { once: true })
    }
    function drop() {
      stop()
      if (!times && appointment) return
      ignoreClick()
      const chosen = times ?? timesFrom(from_ms, from_ms)
      if (!appointment) onSelect(chosen)
      else if (chosen.start_at !== appointment.start_at || chosen.end_at !== appointment.end_at)
        onMove(appointment, chosen)
    }
    addEventListener('pointermove', follow, { signal })
    addEventListener('pointerup', drop, { signal })
    addEventListener('pointercancel', stop, { signal })
    addEventListener('keydown', putBack, { signal })
  }
  return {
    /** The appointments, the dragged one where it is now. */
    drawn: appointments
      .map((one) =>
        one.id === dragged?.appointment?.id
          ? { ...one, start_at: dragged.start_at, end_at: dragged.end_at }
          : one,
      )
      .sort(byStart),
    /** The free time that is being chosen. */
    chosen: dragged && !dragged.appointment ? dragged : null,
    press,
    onClickCapture: (event: React.MouseEvent) => dropped.current && event.stopPropagation(),
  }
}
