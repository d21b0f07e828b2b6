import type { Schemas } from '../api/client.ts'

type Delivery = Schemas['Delivery']

/** What is shown of the log, newest first, and what has come since but is held back. */
export type Log = {
  rows: Delivery[]
  fresh: Delivery[]
  /** More has come than one answer holds: between `fresh` and `rows` some are missing. */
  gap: boolean
  /** Where the older ones go on, after the last of `rows`; null at the end. */
  next: string | null
  /** The same for the newest answer. */
  top_next: string | null
  /** Where the answers of before ended, newest first: after the row `id` it goes on at `next`. */
  ends: End[]
}
type End = { id: string; next: string | null }

// More that come by themselves than anybody looks through would make the page slow; the older ones go by pages.
const most_shown = 200

/**
 * Takes in the newest page of the log. Known rows change in place; new ones come in at the top, or wait in `fresh` while
 * somebody reads (`held`). What matches the filters no longer goes only when nobody reads.
 */
export function takeIn(log: Log | null, top: Delivery[], next: string | null, held: boolean): Log {
  const ends = withEnd(log?.ends ?? [], top, next)
  if (!log) return { rows: top, fresh: [], gap: false, next, top_next: next, ends }
  const newest = log.rows[0]?.id ?? ''
  const told = new Map(top.map((row) => [row.id, row]))
  const fresh = top.filter(({ id }) => id > newest)
  const gap = newest !== '' && next !== null && fresh.length === top.length
  const last = next === null ? '' : (top.at(-1)?.id ?? '')
  const rows = log.rows
    .filter(({ id }) => held || told.has(id) || id < last)
    .map((row) => told.get(row.id) ?? row)
  const taken = { ...log, rows, fresh, gap, top_next: next, ends }
  return held ? taken : release(taken)
}

/** Shows what was held back. */
export function release(log: Log): Log {
  const { rows, fresh, gap, next, top_next } = log
  return cut({
    ...log,
    rows: gap ? fresh : [...fresh, ...rows],
    fresh: [],
    gap: false,
    next: gap ? top_next : next,
  })
}

function withEnd(ends: End[], page: Delivery[], next: string | null): End[] {
  const id = page.at(-1)?.id
  if (id === undefined || next === null) return ends
  return [...ends.filter((end) => end.id !== id), { id, next }].sort((a, b) => (a.id < b.id ? 1 : -1))
}

/** Leaves the newest rows up to where an answer ended: only there the older ones can go on. */
function cut(log: Log): Log {
  const last = log.rows.slice(0, most_shown).at(-1)?.id ?? ''
  const ends = log.ends.filter(({ id }) => id >= last)
  const end = ends.at(-1)
  if (log.rows.length <= most_shown || !end) return { ...log, ends }
  return { ...log, rows: log.rows.filter(({ id }) => id >= end.id), next: end.next, ends }
}

/** Adds older ones at the end. */
export function takeOlder(log: Log, older: Delivery[], next: string | null): Log {
  const known = new Set(log.rows.map(({ id }) => id))
  const rows = [...log.rows, ...older.filter(({ id }) => !known.has(id))]
  return { ...log, rows, next, ends: withEnd(log.ends, older, next) }
}

/** Changes known rows. */
export function takeChanges(log: Log, changed: Delivery[]): Log {
  const told = new Map(changed.map((row) => [row.id, row]))
  return { ...log, rows: log.rows.map((row) => told.get(row.id) ?? row) }
}
