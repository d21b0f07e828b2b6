import { ActionIcon } from '@mantine/core'
import { PlusIcon, XIcon } from '@primer/octicons-react'
import { useTexts } from '../texts/with-booking.ts'
import { focusBeside } from '../ui/focus.ts'
import { TimeInput } from '../ui/inputs.tsx'
import type { Hours } from './booking.ts'

/** Errors by the path of the field: availability.monday.0.to. */
export type Problems = Record<string, string>

type Props = {
  /** The label, such as Monday. */
  where: string
  /** The path of these hours in the API. */
  path: string
  hours: Hours[]
  problems: Problems
  onChange: (hours: Hours[]) => void
}

const midnight = '24:00'
const usual: Hours = { from: '09:00', to: '17:00' }

/** The suggested next hours, after the last ones of the day. */
function nextHours(hours: readonly Hours[]): Hours {
  const last = hours.at(-1)
  if (!last) return usual
  const hour = Number(last.to.slice(0, 2))
  const two = (n: number) => String(Math.min(n, 24)).padStart(2, '0')
  if (hour >= 23) return { from: last.to, to: midnight }
  return { from: `${two(hour + 1)}:00`, to: `${two(hour + 2)}:00` }
}

/** Midnight as an end is always 24:00. */
const endOf = (time: string) => (time === '00:00' ? midnight : time)

/** The opening hours of a day: none, or several intervals. */
export function HoursEditor({ where, path, hours, problems, onChange }: Props) {
  const t = useTexts()
  const set = (index: number, part: Partial<Hours>) =>
    onChange(hours.map((one, at) => (at === index ? { ...one, ...part } : one)))
  const problem = problems[path]
  return (
    <div className="booking-hours">
      {hours.length === 0 && <span className="hint">{t.booking.closed}</span>}
      {hours.map(({ from, to }, index) => {
        const at = `${path}.${index}`
        const wrong = problems[at] ?? problems[`${at}.from`] ?? problems[`${at}.to`]
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: hours have nothing but their place
          <div key={index} ref={focusBeside} className="booking-span">
            <TimeInput
              size="xs"
              w={92}
              aria-label={t.booking.from({ where })}
              value={from}
              error={Boolean(wrong)}
              // The service refuses an invalid time.
              onEnd={(time, written) => set(index, { from: time ?? written })}
            />
            <span aria-hidden>–</span>
            <TimeInput
              size="xs"
              w={92}
              aria-label={t.booking.to({ where })}
              value={to}
              error={Boolean(wrong)}
              onEnd={(time, written) => set(index, { to: time ? endOf(time) : written })}
            />
            <ActionIcon
              aria-label={t.booking.remove_hours({ where, from, to })}
              onClick={() => onChange(hours.filter((_, place) => place !== index))}
            >
              <XIcon />
            </ActionIcon>
            {wrong && (
              <span className="booking-wrong" role="alert">
                {wrong}
              </span>
            )}
          </div>
        )
      })}
      {problem && (
        <span className="booking-wrong" role="alert">
          {problem}
        </span>
      )}
      {hours.at(-1)?.to !== midnight && (
        <ActionIcon
          ref={focusBeside}
          aria-label={t.booking.add_hours({ where })}
          title={t.app.add}
          onClick={() => onChange([...hours, nextHours(hours)])}
        >
          <PlusIcon />
        </ActionIcon>
      )}
    </div>
  )
}
