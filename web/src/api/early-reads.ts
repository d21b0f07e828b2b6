import { whenIdle } from '../app/idle.ts'
import { type Place, placeOf } from './place.ts'

// A page reads its data again each time that it is opened, and its requests stay the same. This browser remembers them, so
// that index.html can send them before the scripts are there. The requests of the main pages are known before their first visit.

const stored = 'rapport-reads'
const max_pages = 30
const max_reads = 20
// An early answer is used only so long after the page was opened.
const early_ms = 30_000
// A time this near is the time of the request.
const now_ms = 60_000
const day_ms = 86_400_000
// A day this near is counted from the day of the request.
const near_days = 31

/** `views` has the views with which pages open, so that index.html loads the scripts of those. */
type Reads = { place: string; pages: Record<string, string[]>; views?: Record<string, string> }

type Early = { place: string; answers: Map<string, Promise<Response>> }
const page = window as { early?: Early }
// The requests begin when the stream of changes is open. If they have not begun, the app sends its own.
const early = page.early?.answers.size ? page.early : undefined
page.early = undefined

const { pathname, search } = window.location
let asked: string[] | null = []

/**
 * A request without the origin. Its times are named as index.html reads them: {now}, a later time of a day as {T22:59:59.999Z},
 * and a day as the days from today, in UTC. Times in the address of the page stay.
 */
function templateOf(url: string, now = Date.now()): string {
  const path = url.slice(window.location.origin.length)
  return path.replace(/\d{4}-\d\d-\d\d(?:T\d\d%3A\d\d%3A[\d.]+Z)?/g, (text) => {
    if (search.includes(text)) return text
    const time = decodeURIComponent(text)
    const from_now = Date.parse(time) - now
    if (!time.includes('T')) {
      const days = Math.ceil(from_now / day_ms)
      return Math.abs(days) <= near_days ? `{${days}}` : text
    }
    if (Math.abs(from_now) < now_ms) return '{now}'
    return from_now > 0 && from_now < day_ms ? `{${time.slice(10)}}` : text
  })
}

/**
 * Sends a GET, unless index.html has sent it already for the same place. An error or a lost answer is asked for again.
 */
export async function sendRead(request: Request): Promise<Response> {
  const template = templateOf(request.url)
  if (asked && asked.length < max_reads && window.location.pathname === pathname) asked.push(template)
  const sent = early?.answers.get(template)
  early?.answers.delete(template)
  // The session may have changed between the early requests and its own answer.
  const is_own = early?.place === request.headers.get('rapport-place') && performance.now() < early_ms
  const answer = is_own ? await sent?.catch(() => null) : null
  return answer?.ok ? answer : window.fetch(request)
}

/** Whether index.html has sent requests of the page that the app has not used yet. */
export const hasEarlyReads = (): boolean => Boolean(early?.answers.size)

/** Drops the early answers: the data may have changed since. */
export const dropEarlyReads = (): void => early?.answers.clear()

/** Remembers the requests of the first page for its next visit. Later ones are not early. */
export function keepReads(session: Place): void {
  const reads = [...new Set(asked)]
  asked = null
  dropEarlyReads()
  const place = placeOf(session)
  const before = keptReads()
  const own = before?.place === place ? before : null
  const key = pathname + search
  const pages = [
    ...Object.entries(own?.pages ?? {}).filter(([path]) => path !== key),
    [key, reads] as const,
  ].slice(-max_pages)
  store({ place, pages: Object.fromEntries(pages), views: withView(own?.views) })
}

/** Adds the view with which the first page has opened, if its address had none. */
function withView({ [pathname]: before, ...others }: Record<string, string> = {}): Record<string, string> {
  const is_open = !search && window.location.pathname === pathname
  const view = is_open ? new URLSearchParams(window.location.search).get('view') : before
  return view ? { ...others, [pathname]: view } : others
}

/** Keeps the requests of pages before their first visit in a place. `pagesOf` loads them when the page is idle. */
export function keepFirstReads(session: Place, pagesOf: () => Promise<Record<string, string[]>>): void {
  const place = placeOf(session)
  if (keptReads()?.place === place) return
  whenIdle(async () => {
    const first = Object.entries(await pagesOf()).map(([path, urls]) => [
      path,
      urls.map((url) => templateOf(window.location.origin + url)),
    ])
    // The page that is open may have kept its own by now.
    const kept = keptReads()
    const own = kept?.place === place ? kept : null
    store({ ...own, place, pages: { ...Object.fromEntries(first), ...own?.pages } })
  })
}

function store(reads: Reads): void {
  try {
    localStorage.setItem(stored, JSON.stringify(reads))
  } catch {
    // Storage may be disabled. Then the requests begin with the scripts.
  }
}

function keptReads(): Reads | null {
  try {
    return JSON.parse(localStorage.getItem(stored) ?? 'null')
  } catch {
    return null
  }
}

/** Forgets the requests of all pages: addresses may have personal data. */
export const forgetReads = (): void => localStorage.removeItem(stored)
