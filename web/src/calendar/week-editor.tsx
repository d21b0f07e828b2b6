import { ActionIcon, Button } from '@mantine/core'
import { XIcon } from '@primer/octicons-react'
import { useState } from 'react'
import { useFormats } from '../app/formats.ts'
import { useTexts } from '../texts/with-booking.ts'
import { focusBeside } from '../ui/focus.ts'
import { DayInput } from '../ui/inputs.tsx'
import { type Draft, weekdays } from './booking.ts'
import { HoursEditor, type Problems } from './hours-editor.tsx'

type Props = { draft: Draft; problems: Problems; onChange: (changes: Partial<Draft>) => void }

/** The opening hours per weekday. */
export function WeekEditor({ draft: { availability }, problems, onChange }: Props) {
  const t = useTexts()
  const monday = availability.monday ?? []
  return (
    <fieldset className="booking-part">
      <legend>{t.booking.week}</legend>
      {problems.availability && (
        <span className="booking-wrong" role="alert">
          {problems.availability}
        </span>
      )}
      {weekdays.map((weekday) => (
        <div key={weekday} className="booking-day">
          <span className="booking-day-name">{t.booking.weekdays[weekday]}</span>
          <HoursEditor
            where={t.booking.weekdays[weekday]}
            path={`availability.${weekday}`}
            hours={availability[weekday] ?? []}
            problems={problems}
            onChange={(hours) => onChange({ availability: { ...availability, [weekday]: hours } })}
          />
        </div>
      ))}
      <Button
        variant="default"
        onClick={() =>
          onChange({
            availability: {
              ...availability,
              ...Object.fromEntries(weekdays.slice(0, 5).map((weekday) => [weekday, [...monday]])),
            },
          })
        }
      >
        {t.booking.copy_hours}
      </Button>
    </fieldset>
  )
}

/** The opening hours of single days, in order. */
export function OverridesEditor({ draft: { date_overrides }, problems, onChange }: Props) {
  const t = useTexts()
  const formats = useFormats()
  const [day, setDay] = useState<string | null>(null)
  const [wrong, setWrong] = useState<string | null>(null)
  const set = (date_overrides: Draft['date_overrides']) => onChange({ date_overrides })
  return (
    <fieldset className="booking-part">
      <legend>{t.booking.overrides}</legend>
      <p className="booking-hint hint">{t.booking.overrides_hint}</p>
      {problems.date_overrides && (
        <span className="booking-wrong" role="alert">
          {problems.date_overrides}
        </span>
      )}
      {Object.entries(date_overrides)
        .sort(([one], [other]) => one.localeCompare(other))
        .map(([date, hours]) => (
          <div key={date} ref={focusBeside} className="booking-day">
            <span className="booking-day-name">
              {formats.date(date)}
              <ActionIcon
                size="sm"
                aria-label={t.booking.remove_day({ day: formats.date(date) })}
                onClick={() => {
                  const { [date]: _, ...others } = date_overrides
                  set(others)
                }}
              >
                <XIcon size={12} />
              </ActionIcon>
            </span>
            <HoursEditor
              where={formats.date(date)}
              path={`date_overrides.${date}`}
              hours={hours}
              problems={problems}
              onChange={(changed) => set({ ...date_overrides, [date]: changed })}
            />
          </div>
        ))}
      <div className="booking-span">
        <DayInput
          size="xs"
          aria-label={t.booking.day}
          value={day}
          error={wrong}
          onChange={(next) => {
            setDay(next)
            setWrong(null)
          }}
        />
        <Button
          variant="default"
          onClick={() => {
            const { required, taken } = t.app.field_problems
            if (!day || day in date_overrides) return setWrong(day ? taken : required)
            // Closed by default: most exceptions are holidays.
            set({ ...date_overrides, [day]: [] })
            setDay(null)
          }}
        >
          {t.booking.add_day}
        </Button>
      </div>
    </fieldset>
  )
}
