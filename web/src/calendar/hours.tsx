import { useLayoutEffect, useRef } from 'react'
import { wallOf } from '../app/zones.ts'
import { useTexts } from '../texts/texts.ts'
import { useMinute } from '../ui/values.tsx'
import { byStart, type Entered, isLong, isWhole, keyOf, type Times } from './appointments.ts'
import type { ViewProps } from './calendar-view.tsx'
import { day_minutes, Entry, onDayOf, type Placed, placedOn, useCalendarFormats } from './entry.tsx'
import { useDrag } from './use-drag.ts'

const first_hour = 7.5
const percent = (minutes: number) => `${(minutes / day_minutes) * 100}%`

const placeOf = ({ from, to, column, columns }: Placed<Times>) => ({
  top: percent(from),
  height: `calc(${percent(to - from)} - 1px)`,
  left: `${(column / columns) * 100}%`,
  width: `calc(${100 / columns}% - 4px)`,
})

type Props = Omit<ViewProps, 'days'> & { days: string[]; zone: string }

/** Days with their hours. */
export function Hours({ days, zone, onOpen, ...given }: Props) {
  const { today, startOn, rangeOn, range, hour, head } = useCalendarFormats()
  const t = useTexts()
  const place = useRef<HTMLElement>(null)
  const { drawn, chosen, press, onClickCapture } = useDrag({ ...given, zone, place })
  const whole = drawn.filter((one) => isWhole(one, zone))
  const within: Entered[] = [...drawn.filter((one) => !isWhole(one, zone)), ...given.due].sort(byStart)
  const wholeOn = (day: string) => onDayOf(day, whole, zone)
  const lines = Math.max(...days.map((day) => wholeOn(day).length))
  useLayoutEffect(() => {
    const hours = place.current?.querySelector('.calendar-day')?.clientHeight ?? 0
    if (place.current) place.current.scrollTop = (hours * first_hour) / 24
  }, [])
  return (
    <section
      className="calendar-hours"
      style={{ '--days': days.length, '--whole': lines } as React.CSSProperties}
      ref={place}
      aria-label={t.calendar.appointments}
      onClickCapture={onClickCapture}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls the hours
      tabIndex={0}
    >
      <span className="calendar-head" />
      {days.map((day) => (
        <div key={day} className="calendar-head" data-whole={day}>
          <span className={day === today ? 'calendar-today' : undefined}>{head(day)}</span>
          {wholeOn(day).map((one) => (
            <Entry
              key={one.id}
              appointment={one}
              time={rangeOn(day, one)}
              whole
              onOpen={onOpen}
              onPointerDown={(event) => press(event, one)}
            />
          ))}
        </div>
      ))}
      <div className="calendar-clock" aria-hidden>
        {Array.from({ length: 24 }, (_, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the hours of a day
          <span key={index}>{hour(index)}</span>
        ))}
      </div>
      {days.map((day) => (
        <div
          key={day}
          className="calendar-day"
          data-date={day}
          data-today={day === today || undefined}
          onPointerDown={press}
        >
          {placedOn(day, within, zone).map((one) => (
            <Entry
              key={keyOf(one.of)}
              appointment={one.of}
              time={(isLong(one.of) ? rangeOn : startOn)(day, one.of)}
              host
              block
              onOpen={onOpen}
              onPointerDown={(event) => press(event, one.of)}
              style={placeOf(one)}
            >
              {given.editable && !one.of.activity && <span className="calendar-end" />}
            </Entry>
          ))}
          {chosen &&
            placedOn(day, [chosen], zone).map((one) => (
              <span key={one.from} className="calendar-block calendar-chosen" style={placeOf(one)}>
                {range(chosen)}
              </span>
            ))}
          {day === today && <Now zone={zone} />}
        </div>
      ))}
    </section>
  )
}

/** The line of the current time. */
function Now({ zone }: { zone: string }) {
  useMinute()
  const [hours = 0, minutes = 0] = wallOf(new Date().toISOString(), zone).slice(11).split(':').map(Number)
  return <span className="calendar-now" style={{ top: percent(hours * 60 + minutes) }} />
}
