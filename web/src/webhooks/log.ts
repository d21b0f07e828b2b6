import type { Schemas } from '../api/client.ts'

type Delivery = Schemas['Delivery']

/** The shown rows of the log, newest first, and new rows that are held back. */
export type Log = {
  rows: Delivery[]
  fresh: Delivery[]
  /** There is a gap between `fresh` and `rows`: more arrived than one answer holds. */
  gap: boolean
  /** The cursor after the last of `rows`; null at the end. */
  next: string | null
  /** The same for the newest answer. */
  top_next: string | null
  /** The cursors of earlier answers, newest first: after the row `id`, continue at `next`. */
  ends: End[]
}
type End = { id: string; next: string | null }

// A limit on live rows, which would make the page slow. Older rows come by pages.
const most_shown = 200

/**
 * Merges the newest page of the log. Known rows change in place. New rows come at the top, or wait in
 * `fresh` while the reader has scrolled (`held`). Rows that no longer match the filters go only when not
 * held.
 */
export function takeIn(log: Log | null, top: Delivery[], next: string | null, held: boolean): Log {
  const ends = withEnd(log?.ends ?? [], top, next)
  if (!log) return { rows: top, fresh: [], gap: false, next, top_next: next, ends }
  const newest = log.rows[0]?.id ?? ''
  const updated = new Map(top.map((row) => [row.id, row]))
  const fresh = top.filter(({ id }) => id > newest)
  const gap = newest !== '' && next !== null && fresh.length === top.length
  const last = next === null ? '' : (top.at(-1)?.id ?? '')
  const rows = log.rows
    .filter(({ id }) => held || updated.has(id) || id < last)
    .map((row) => updated.get(row.id) ?? row)
  const taken = { ...log, rows, fresh, gap, top_next: next, ends }
  return held ? taken : release(taken)
}

/** Shows the held rows. */
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

/** Cuts the rows to the end of an earlier answer, where a cursor exists. */
function cut(log: Log): Log {
  const last = log.rows.slice(0, most_shown).at(-1)?.id ?? ''
  const ends = log.ends.filter(({ id }) => id >= last)
  const end = ends.at(-1)
  if (log.rows.length <= most_shown || !end) return { ...log, ends }
  return { ...log, rows: log.rows.filter(({ id }) => id >= end.id), next: end.next, ends }
}

/** Appends older rows. */
export function takeOlder(log: Log, older: Delivery[], next: string | null): Log {
  const known = new Set(log.rows.map(({ id }) => id))
  const rows = [...log.rows, ...older.filter(({ id }) => !known.has(id))]
  return { ...log, rows, next, ends: withEnd(log.ends, older, next) }
}

/** Updates known rows. They keep what a change does not have. */
export function takeChanges(log: Log, changed: Delivery[]): Log {
  const updated = new Map(changed.map((row) => [row.id, row]))
  return { ...log, rows: log.rows.map((row) => ({ ...row, ...updated.get(row.id) })) }
}
