import { useLayoutEffect, useRef, useState } from 'react'
import { useTexts } from '../texts/texts.ts'
import { byStart, keyOf } from './appointments.ts'
import type { ViewProps } from './calendar-view.tsx'
import { Entry, onDayOf, useCalendarFormats } from './entry.tsx'
import { eachDay } from './ranges.ts'
import { useDrag } from './use-drag.ts'

// The head of the weekdays, the number of a day, and an appointment.
const [head_rem, number_rem, entry_rem] = [1.625, 1.75, 1.5625]

/** How many appointments fit a day. */
function useRoom(place: React.RefObject<HTMLElement | null>, weeks: number): number {
  const [room, setRoom] = useState(3)
  useLayoutEffect(() => {
    if (!place.current) return
    const { current } = place
    const measure = () => {
      const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize)
      const week = (current.clientHeight / rem - head_rem) / weeks
      setRoom(Math.max(1, Math.floor((week - number_rem) / entry_rem)))
    }
    const watch = new ResizeObserver(measure)
    measure()
    watch.observe(current)
    return () => watch.disconnect()
  }, [place, weeks])
  return room
}

type Props = ViewProps & { drawn_days: string[]; zone: string }

export function Month({ days, drawn_days, zone, onDay, onOpen, due, ...given }: Props) {
  const t = useTexts()
  const { today, startOn, short_weekday, number, date } = useCalendarFormats()
  const place = useRef<HTMLDivElement>(null)
  const weeks = eachDay(days.drawn_first, days.drawn_last).length / 7
  const in_week = drawn_days.length / weeks
  const room = useRoom(place, weeks)
  const { drawn, press, onClickCapture } = useDrag({ ...given, zone, place })
  const entries = [...drawn, ...due].sort(byStart)
  return (
    <div
      className="calendar-month"
      style={{ '--days': in_week } as React.CSSProperties}
      ref={place}
      onClickCapture={onClickCapture}
    >
      {drawn_days.slice(0, in_week).map((day) => (
        <span key={day} className="calendar-weekday">
          {short_weekday(day)}
        </span>
      ))}
      {drawn_days.map((day) => {
        const all = onDayOf(day, entries, zone)
        const some = all.length > room ? all.slice(0, room - 1) : all
        const left_out = all.length - some.length
        return (
          // biome-ignore lint/a11y/noStaticElementInteractions: by keyboard, `c` creates an appointment
          // biome-ignore lint/a11y/useKeyWithClickEvents: the same
          <div
            key={day}
            className="calendar-cell"
            data-date={day}
            data-today={day === today || undefined}
            data-other={day < days.first || day >= days.last || undefined}
            onClick={given.editable ? () => given.onSelect({ day }) : undefined}
          >
            <DayLink
              className={day === today ? 'calendar-number calendar-today' : 'calendar-number'}
              hint={t.calendar.go_to_day({ day: date(day) })}
              onDay={() => onDay(day)}
            >
              {number(day)}
            </DayLink>
            {some.map((one) => (
              <Entry
                key={keyOf(one)}
                appointment={one}
                host
                time={startOn(day, one)}
                onOpen={onOpen}
                onPointerDown={(event) => press(event, one)}
              />
            ))}
            {left_out > 0 && (
              <DayLink
                className="calendar-more"
                hint={t.calendar.more_hint({ n: left_out })}
                onDay={() => onDay(day)}
              >
                {t.calendar.more({ n: left_out })}
              </DayLink>
            )}
          </div>
        )
      })}
    </div>
  )
}

type DayLinkProps = { className: string; hint: string; onDay: () => void; children: string }

const DayLink = ({ className, hint, onDay, children }: DayLinkProps) => (
  <button
    type="button"
    className={`calendar-link ${className}`}
    title={hint}
    onClick={(event) => {
      event.stopPropagation()
      onDay()
    }}
  >
    {children}
  </button>
)
