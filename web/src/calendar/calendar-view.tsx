import { useEffect, useRef, useState } from 'react'
import { useIdle } from '../app/idle.ts'
import { latePart } from '../app/late.ts'
import type { GridProps } from './calendar-grid.tsx'
import { FirstGrid } from './first-grid.tsx'
import type { Days } from './ranges.ts'

const parts = latePart(() => import('./calendar-grid.tsx'))

type Props = Omit<GridProps, 'onSettled'> & {
  days: Days
  /** Whether the appointments are being read for the first time. */
  awaited: boolean
}

/** The calendar: its appointments at once, and what moves them as soon as the program for it is loaded. */
export function CalendarView({ days, awaited, ...given }: Props) {
  const idle = useIdle()
  const found = parts.usePart(idle || parts.now() !== undefined, () => {})
  const [settled, setSettled] = useState(false)
  const place = useRef<HTMLDivElement>(null)
  const focused = useRef<string | undefined>(undefined)
  function onSettled() {
    // The focus stays on the same appointment.
    focused.current = /calendar-event-\d+/.exec(
      place.current?.querySelector('.first-entry:focus')?.className ?? '',
    )?.[0]
    setSettled(true)
  }
  useEffect(() => {
    if (settled && focused.current)
      place.current?.querySelector<HTMLElement>(`.${focused.current}`)?.focus({ preventScroll: true })
  }, [settled])
  const { show, day, known, appointments, onOpen } = given
  // A list has the whole month or year, and begins with the day.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list is drawn twice, and scrolls each time
  useEffect(() => {
    if ((show !== 'list' && show !== 'year') || awaited) return
    const days = [...(place.current?.querySelectorAll<HTMLElement>('[data-date]') ?? [])]
    days.find(({ dataset }) => (dataset.date ?? '') >= day)?.scrollIntoView()
  }, [show, day, awaited, settled])
  return (
    <div
      className="calendar-grid"
      ref={place}
      data-ready={settled || undefined}
      aria-busy={awaited || undefined}
    >
      {!settled && (
        <FirstGrid show={show} days={days} known={known} appointments={appointments} onOpen={onOpen} />
      )}
      {found && (
        <found.CalendarGrid {...given} day={show === 'year' ? days.first : day} onSettled={onSettled} />
      )}
    </div>
  )
}
