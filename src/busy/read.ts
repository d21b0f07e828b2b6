import { zoneOf } from '../zones/zones.ts'
import { partsOf } from './components.ts'
import { periodValue, timesOfEvent } from './events.ts'
import { zoneFinder } from './file-zones.ts'
import { merged, type Period } from './periods.ts'
import { all, type Clocks, type Component, first, parseComponent, textOf, Unreadable } from './properties.ts'
import type { WallWindow } from './rule.ts'

export type ReadOptions = {
  /** The zone of whole days and of times without a zone. */
  time_zone: string
  /** The addresses of the person, in lower case. An event that one of them declined takes no time. */
  addresses: readonly string[]
  from_ms: number
  to_ms: number
  /** The IANA name for a name of Windows. */
  ianaOf: (windows_name: string) => string | undefined
}

export type Skipped = { uid: string | null; reason: string }

/** The busy times of a calendar: merged and in order, those of events with a uid of Rapport apart. */
export type BusyTimes = {
  periods: Period[]
  rapport: { uid: string; periods: Period[] }[]
  skipped: Skipped[]
  skipped_count: number
}

const most_periods = 10_000
const most_skipped = 20
const day_ms = 86_400_000
/** How uids of appointments look (`uidOfToken`); whether one is of this installation, the database knows. */
const of_rapport = /^[\da-f]{32}@rapport$/

/**
 * Reads the busy times of a calendar file within a window (the contract, "Busy calendars"). A part that cannot be read is
 * in `skipped`, and the rest counts. Throws InvalidCalendar for a file that is not a calendar, or is too large.
 */
export function readBusyTimes(text: string, options: ReadOptions): BusyTimes {
  const skipped: Skipped[] = []
  let skipped_count = 0
  const attempt = (uid: string | null, read: () => void) => {
    try {
      read()
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error
      skipped_count++
      if (skipped.length < most_skipped)
        skipped.push({ uid: uid?.slice(0, 200) ?? null, reason: error.message })
    }
  }
  const file = {
    zones: [] as Component[],
    events: new Map<string, Component[]>(),
    free_busy: [] as Component[],
  }
  for (const { name, text: part } of partsOf(text))
    attempt(/^UID:(.*?)\r?$/im.exec(part)?.[1] ?? null, () => {
      const component = parseComponent(part)
      if (name === 'VTIMEZONE') file.zones.push(component)
      else if (name === 'VFREEBUSY') file.free_busy.push(component)
      else add(file.events, textOf(component, 'uid'), component)
    })

  const window = { from_ms: options.from_ms - day_ms, to_ms: options.to_ms + day_ms }
  const clocks: Clocks = {
    zoneOf: zoneFinder(file.zones, options.ianaOf, window),
    local: zoneOf(options.time_zone),
  }
  // Cut to the window: a year before 0 or above 9999 has another form of text.
  const within = (all: readonly Period[]): Period[] =>
    all.flatMap(({ start_ms, end_ms }) =>
      end_ms > options.from_ms && start_ms < options.to_ms
        ? [{ start_ms: Math.max(start_ms, options.from_ms), end_ms: Math.min(end_ms, options.to_ms) }]
        : [],
    )
  const found: Period[] = []
  const rapport: BusyTimes['rapport'] = []
  for (const [uid, events] of file.events)
    attempt(uid, () => {
      const periods = within(periodsOf(events, clocks, window, options.addresses))
      // An appointment of Rapport does not repeat.
      if (periods.length === 1 && of_rapport.test(uid)) rapport.push({ uid, periods })
      else found.push(...periods)
    })
  for (const component of file.free_busy)
    attempt(textOf(component, 'uid') || null, () => found.push(...within(freeBusy(component, clocks))))

  const periods = merged(found)
  if (periods.length > most_periods) {
    skipped_count += periods.length - most_periods
    periods.length = most_periods
  }
  return { periods, rapport, skipped, skipped_count }
}

function add(events: Map<string, Component[]>, uid: string, event: Component): void {
  // An event without a uid is its own.
  const key = uid || `no uid ${events.size}`
  const known = events.get(key)
  if (known) known.push(event)
  else events.set(key, [event])
}

/** The times of all components with one uid: an event, and its changed occurrences. */
function periodsOf(
  events: readonly Component[],
  clocks: Clocks,
  window: WallWindow,
  addresses: readonly string[],
): Period[] {
  const isMe = (address: string) => addresses.includes(address.trim().toLowerCase())
  const changes = events.filter((event) => first(event, 'recurrence-id'))
  const mains = events.filter((event) => !first(event, 'recurrence-id'))
  // An invitation to one occurrence alone has no event that repeats.
  if (!mains.length) return changes.flatMap((change) => timesOfEvent(change, [], clocks, window, isMe))
  return mains.flatMap((main) => timesOfEvent(main, changes, clocks, window, isMe))
}

function freeBusy(component: Component, clocks: Clocks): Period[] {
  return all(component, 'freebusy')
    .filter(({ parameters }) => String(parameters.fbtype ?? 'BUSY').toUpperCase() !== 'FREE')
    .flatMap(({ values, parameters }) =>
      values.filter(Array.isArray).map((value) => periodValue(value, parameters, clocks)),
    )
}
