import { Readable } from 'node:stream'
import type { Database, Snapshot } from '../db/db.ts'
import { unavailable } from '../errors.ts'

// A snapshot has a connection of its own, and keeps old rows from being removed.
const max_open = 4
const max_of_a_workspace = 2
const max_ms = 60 * 60 * 1000
const recheck_ms = 1000

/** Opens the snapshot of an export. Throws 503 above the limit of this process or of the workspace. */
export type OpenSnapshot = (workspace_id: number) => Promise<Snapshot>

/** Limits how many exports read at once. */
export function limitSnapshots({ openSnapshot }: Pick<Database, 'openSnapshot'>): OpenSnapshot {
  const open: number[] = []
  return async (workspace_id) => {
    const own = open.filter((id) => id === workspace_id).length
    if (own >= max_of_a_workspace || open.length >= max_open)
      throw unavailable('Too many exports are running. Try again when one has ended.')
    open.push(workspace_id)
    const release = () => void open.splice(open.indexOf(workspace_id), 1)
    try {
      const { db, close } = await openSnapshot()
      return { db, close: () => close().finally(release) }
    } catch (error) {
      release()
      throw error
    }
  }
}

type Conditions = {
  /** Throws when the caller may no longer read. Runs at most once a second, before a part. */
  recheck?(): Promise<unknown>
  limit_ms?: number
}

/**
 * The content of an export, which closes the snapshot at its end, when the client goes away, and after `limit_ms`. The
 * stream ends only after the snapshot is closed: a client that has all bytes can begin its next export.
 */
export function streamSnapshot(
  { close }: Snapshot,
  content: Iterable<unknown> | AsyncIterable<unknown>,
  { recheck, limit_ms = max_ms }: Conditions = {},
): Readable {
  // The content does not run on while a slow client reads, so it cannot end by itself.
  const timer = setTimeout(
    () => stream.destroy(new Error('The export took more than an hour.')),
    limit_ms,
  ).unref()
  let closed: Promise<void> | undefined
  const closeOnce = () => {
    clearTimeout(timer)
    closed ??= close()
    return closed
  }
  const closing = (async function* () {
    let checked_at = performance.now()
    for await (const part of content) {
      if (performance.now() - checked_at >= recheck_ms) {
        await recheck?.()
        checked_at = performance.now()
      }
      yield part
    }
    await closeOnce()
  })()
  const stream = Readable.from(closing).once('close', closeOnce)
  return stream
}
