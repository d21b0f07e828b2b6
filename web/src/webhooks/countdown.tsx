import { ClockIcon } from '@primer/octicons-react'
import { useEffect, useState } from 'react'
import { useFormats } from '../app/formats.ts'
import { type Texts, useTexts } from '../texts/with-settings.ts'

/** The current time, updated every second while the page is visible. */
function useNow(): number {
  const [now_ms, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [])
  return now_ms
}

function untilText(s: number, { settings }: Texts): string {
  const [hours, minutes, seconds] = [Math.floor(s / 3600), Math.floor(s / 60) % 60, s % 60]
  if (s <= 0) return settings.now
  if (hours) return settings.in_hours({ hours, minutes })
  return minutes ? settings.in_minutes({ minutes, seconds }) : settings.in_seconds({ seconds })
}

/** A countdown to a time in minutes and seconds; afterwards, that it is due. */
export function Countdown({ at }: { at: string }) {
  const t = useTexts()
  const formats = useFormats()
  const s = Math.ceil((Date.parse(at) - useNow()) / 1000)
  return (
    <time dateTime={at} title={formats.exact(at)} className="numbers">
      {untilText(s, t)}
    </time>
  )
}

/** The next attempt, at the end of a line of attempts. */
export function NextAttempt({ at, paused = false }: { at: string | null; paused?: boolean }) {
  const { settings } = useTexts()
  const when = at ? <Countdown at={at} /> : settings.now
  return (
    <li data-next>
      <span className="attempt-mark">
        <ClockIcon size={16} />
      </span>
      <span className="attempt-next">
        {settings.next_attempt} {paused ? settings.when_resumed : when}
      </span>
    </li>
  )
}
