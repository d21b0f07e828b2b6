import { useLayoutEffect, useRef } from 'react'
import { useNames } from '../record/kinds.ts'
import { useTexts } from '../texts/texts.ts'
import { Empty } from '../ui/empty.tsx'
import { byStart, type Entered, keyOf } from './appointments.ts'
import type { ViewProps } from './calendar-view.tsx'
import { Entry, onDayOf, useCalendarFormats } from './entry.tsx'
import { eachDay } from './ranges.ts'

/** The appointments of each day that has some. It begins with the day; earlier ones are above. */
export function CalendarList({
  day,
  days,
  appointments,
  due,
  known,
  editable,
  onDay,
  onOpen,
  onCreate,
}: ViewProps) {
  const { zone, today, startOn, rangeOn, weekday, date } = useCalendarFormats()
  const t = useTexts()
  const names = useNames('appointments')
  const place = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const shown = [...(place.current?.querySelectorAll<HTMLElement>('[data-date]') ?? [])]
    shown.find(({ dataset }) => (dataset.date ?? '') >= day)?.scrollIntoView()
  }, [day])
  const entries: Entered[] = [...appointments, ...due].sort(byStart)
  const with_some = eachDay(days.first, days.last)
    .map((day) => [day, onDayOf(day, entries, zone)] as const)
    .filter(([, some]) => some.length > 0)
  if (!with_some.length)
    return known ? (
      <Empty text={t.calendar.nothing} {...(editable && { action: names.create, onAction: onCreate })} />
    ) : null
  return (
    <div className="calendar-list" ref={place}>
      {with_some.map(([day, some]) => (
        <section key={day} aria-label={`${weekday(day)}, ${date(day)}`} data-date={day}>
          <h2 className={day === today ? 'calendar-today' : undefined}>
            <button type="button" className="calendar-link" onClick={() => onDay(day)}>
              {date(day)}
            </button>
            <span>{weekday(day)}</span>
          </h2>
          {some.map((one) => (
            <Entry
              key={keyOf(one)}
              appointment={one}
              time={(one.activity ? startOn : rangeOn)(day, one)}
              host
              onOpen={onOpen}
            />
          ))}
        </section>
      ))}
    </div>
  )
}
