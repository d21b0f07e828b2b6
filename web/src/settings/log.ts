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
}

/**
 * Takes in the newest page of the log. Known rows change in place; new ones come in at the top, or wait in `fresh` while
 * somebody reads (`held`). What matches the filters no longer goes only when nobody reads.
 */
export function takeIn(log: Log | null, top: Delivery[], next: string | null, held: boolean): Log {
  if (!log) return { rows: top, fresh: [], gap: false, next, top_next: next }
  const newest = log.rows[0]?.id ?? ''
  const told = new Map(top.map((row) => [row.id, row]))
  const fresh = top.filter(({ id }) => id > newest)
  const gap = newest !== '' && next !== null && fresh.length === top.length
  const last = next === null ? '' : (top.at(-1)?.id ?? '')
  const rows = log.rows
    .filter(({ id }) => held || told.has(id) || id < last)
    .map((row) => told.get(row.id) ?? row)
  const taken = { ...log, rows, fresh, gap, top_next: next }
  return held ? taken : release(taken)
}

/** Shows what was held back. */
export function release(log: Log): Log {
  const { rows, fresh, gap, next, top_next } = log
  return {
    rows: gap ? fresh : [...fresh, ...rows],
    fresh: [],
    gap: false,
    next: gap ? top_next : next,
    top_next,
  }
}

/** Adds older ones at the end. */
export function takeOlder(log: Log, older: Delivery[], next: string | null): Log {
  const known = new Set(log.rows.map(({ id }) => id))
  return { ...log, rows: [...log.rows, ...older.filter(({ id }) => !known.has(id))], next }
}

/** Changes known rows. */
export function takeChanges(log: Log, changed: Delivery[]): Log {
  const told = new Map(changed.map((row) => [row.id, row]))
  return { ...log, rows: log.rows.map((row) => told.get(row.id) ?? row) }
}
