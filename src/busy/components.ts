/** A component of a calendar file: VEVENT, VTIMEZONE or VFREEBUSY, with all that is nested in it, as its lines. */
export type Part = { name: string; text: string }

export class InvalidCalendar extends Error {
  readonly code: 'invalid_calendar' | 'too_large'
  constructor(code: 'invalid_calendar' | 'too_large') {
    super(code)
    this.code = code
  }
}

const most_components = 20_000

/**
 * Cuts a calendar file into its components, before anything in it is parsed: so a broken event costs that event alone.
 * Throws InvalidCalendar for a text that is not a whole iCalendar file (RFC 5545, 3.4), and above 20,000 components.
 */
export function* partsOf(text: string): Generator<Part> {
  if (!/^\uFEFF?\s*BEGIN:VCALENDAR[ \t]*\r?$/im.test(text.slice(0, 1000)))
    throw new InvalidCalendar('invalid_calendar')
  let count = 0
  let is_whole = false
  let open: { name: string; from: number } | undefined
  // A folded line begins with a blank, so it is never taken for the begin or end of a component.
  for (const { 1: what = '', 2: found = '', index, 0: line } of text.matchAll(
    /^(BEGIN|END):([\w-]+)[ \t]*\r?$/gim,
  )) {
    const name = found.toUpperCase()
    const begins = what.toUpperCase() === 'BEGIN'
    if (name === 'VCALENDAR') {
      is_whole = !begins
      continue
    }
    if (begins && ++count > most_components) throw new InvalidCalendar('too_large')
    if (begins && (!open || isOuter(name))) open = { name, from: index }
    else if (!begins && open?.name === name) {
      if (isOuter(name)) yield { name, text: text.slice(open.from, index + line.length) }
      open = undefined
    }
  }
  if (!is_whole) throw new InvalidCalendar('invalid_calendar')
}

const isOuter = (name: string) => ['VEVENT', 'VTIMEZONE', 'VFREEBUSY'].includes(name)
