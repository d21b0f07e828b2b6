/** How far a zone's clocks are ahead of UTC at a time, in ms. */
function offset_ms(at_ms: number, zone: string): number {
  const parts = new Intl.DateTimeFormat('en-US', {
    ...{ timeZone: zone, hourCycle: 'h23', year: 'numeric', month: '2-digit', day: '2-digit' },
    ...{ hour: '2-digit', minute: '2-digit', second: '2-digit' },
  } as Intl.DateTimeFormatOptions).formatToParts(at_ms)
  const of = (type: string) => Number(parts.find((part) => part.type === type)?.value)
  const told = Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second'))
  return told - Math.floor(at_ms / 1000) * 1000
}

/** The instant (ISO, UTC) of a local time such as 2026-11-21T08:30 in a zone; null for what is no time. */
export function instantOf(local: string, zone: string): string | null {
  const as_utc = Date.parse(`${local}Z`)
  if (Number.isNaN(as_utc)) return null
  // The offset at the guess may be that of the other side of a clock change: once more with what it gives.
  const guess = as_utc - offset_ms(as_utc, zone)
  return new Date(as_utc - offset_ms(guess, zone)).toISOString()
}
