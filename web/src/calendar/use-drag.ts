import { useRef, useState } from 'react'
import { instantOf, wallOf } from '../app/zones.ts'
import { scrollAtEdges } from '../ui/drag-scroll.ts'
import { type Appointment, isCancelled, type Times } from './appointments.ts'

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
  onMove: (appointment: Appointment, times: Times) => void
  onSelect: (times: Times) => void
}

/** The local time of an instant, in milliseconds as if it were UTC: a day has 24 hours. */
const wallMs = (iso: string, zone: string): number => Date.parse(`${wallOf(iso, zone)}Z`)
const instantAt = (wall_ms: number, zone: string): string =>
  instantOf(new Date(wall_ms).toISOString().slice(0, 16), zone)
const snapped = (ms: number, round = Math.round): number => round(ms / snap_ms) * snap_ms

/** The local time below the pointer: of a day with hours by its height, of other days their begin. */
function timeAt({ clientX, clientY }: PointerEvent, place: HTMLElement): number {
  const days = [...place.querySelectorAll<HTMLElement>('[data-date]')]
  const boxes = days.map((day) => [day, day.getBoundingClientRect()] as const)
  const first = boxes[0] as (typeof boxes)[0]
  const [x, y] = [Math.max(clientX, first[1].left), Math.max(clientY, first[1].top)]
  const [day, box] = boxes.findLast(([, { left, top }]) => left <= x && top <= y) ?? first
  const share = Math.min(1, Math.max(0, (clientY - box.top) / box.height))
  const hours = day.matches('.calendar-day')
  return Date.parse(`${day.dataset.date}T00:00Z`) + (hours ? share * 1440 * minute_ms : 0)
}

/**
 * Lets the mouse move appointments, change their ends, and choose free times. Fingers scroll: a tap opens an appointment, or
 * chooses half an hour.
 */
export function useDrag({ place, zone, appointments, editable, onMove, onSelect }: Where) {
  const [dragged, setDragged] = useState<(Times & { appointment?: Appointment }) | null>(null)
  const dropped = useRef(false)

  function timesFrom(from_ms: number, to_ms: number, appointment?: Appointment, end?: boolean): Times {
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
    const moved = instantAt(wallMs(start_at, zone) + by_ms, zone)
    const length_ms = Date.parse(end_at) - Date.parse(start_at)
    return { start_at: moved, end_at: new Date(Date.parse(moved) + length_ms).toISOString() }
  }

  /** The click that follows the release would open the appointment, or the day. */
  function ignoreClick() {
    dropped.current = true
    setTimeout(() => {
      dropped.current = false
    })
  }

  /** Follows a pointer that was pressed on an appointment, or on free time. */
  function press(down: React.PointerEvent, appointment?: Appointment) {
    const { current } = place
    down.stopPropagation()
    if (!current || !editable || down.button !== 0 || (appointment && isCancelled(appointment))) return
    const end = (down.target as HTMLElement).matches('.calendar-end')
    const touch = down.pointerType === 'touch'
    const from_ms = timeAt(down.nativeEvent, current)
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
      times = timesFrom(from_ms, timeAt(at, current), appointment, end)
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
      .sort((one, other) => one.start_at.localeCompare(other.start_at)),
    /** The free time that is being chosen. */
    chosen: dragged && !dragged.appointment ? dragged : null,
    press,
    onClickCapture: (event: React.MouseEvent) => dropped.current && event.stopPropagation(),
  }
}
