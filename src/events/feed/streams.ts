import type { ServerResponse } from 'node:http'
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import type { Clock } from '../../clock.ts'
import type { Database } from '../../db/db.ts'
import { ApiError, unavailable } from '../../errors.ts'
import type { Access, FindAccess } from '../../http/auth.ts'
import type { ReadRights } from '../../http/scopes.ts'
import { createChanges, type Hints } from './changes.ts'
import { createRecheck, type Follower } from './followers.ts'
import { createOutput, type Recipient, recipientOf } from './output.ts'
import { type EventPart, newestSeqs, readEvents, wantedOf } from './queries.ts'

export type StreamsOptions = {
  database: Pick<Database, 'db' | 'onCommit'>
  clock: Clock
  findAccess: FindAccess
  rights: ReadRights
  /** False when the service stops. Then every stream ends, and clients reconnect to another process. */
  serving: () => boolean
  onError: (error: unknown) => void
  heartbeat_ms?: number
  poll_ms?: number
  /** The limit of bytes that wait in this process for clients that do not read, over all streams. */
  max_unsent_bytes?: number
}

type Wishes = {
  /** The names of the requested events; null for all. */
  names: readonly string[] | null
  /** All requested events up to this seq are written. */
  cursor: number
  /** The state of its hints of changes; null without hints. */
  hints: Hints | null
}
type Stream = Follower & Wishes & Recipient

// Limits of this process, so that one key or workspace cannot use all streams.
const max_of_a_key = 100
const max_of_a_workspace = 2500
const max_streams = 5000
const default_max_unsent_bytes = 32 * 1024 * 1024
const retry_ms = 2000
// Commits wake the streams. The poll finds commits of other processes without a notification.
const default_poll_ms = 1000
const default_heartbeat_ms = 15_000
// The shortest time between two polls: frequent commits share one.
const min_poll_ms = 20
const events_at_once = { limit: 50, max_bytes: 1024 * 1024 }
const readers_at_once = 4

/** Throws when the key, the workspace or the process has reached its limit of streams. */
function refuseBeyondLimits(streams: Set<Stream>, { id, workspace_id }: Access): void {
  let of_key = 0
  let of_workspace = 0
  for (const { access } of streams) {
    if (access.id === id) of_key++
    if (access.workspace_id === workspace_id) of_workspace++
  }
  if (of_key >= max_of_a_key) throw tooMany(`A key may have ${max_of_a_key} streams open at once.`)
  if (of_workspace >= max_of_a_workspace)
    throw tooMany(`A workspace may have ${max_of_a_workspace} streams open at once.`)
  if (streams.size >= max_streams)
    throw unavailable(`This process has ${max_streams} streams open. Try again later.`)
}

/** The streams that are behind and not blocked, grouped by the events that they must read. */
function groupsBehind(
  streams: Iterable<Stream>,
  newest: ReadonlyMap<number, number>,
  rights: StreamsOptions['rights'],
): Stream[][] {
  const groups = new Map<string, Stream[]>()
  for (const stream of streams) {
    const { blocked, cursor, names, access } = stream
    if (blocked || cursor >= (newest.get(access.workspace_id) ?? 0)) continue
    const wanted = wantedOf(rights, access.scopes, names)
    const name = `${access.workspace_id} ${cursor} ${wanted.names} ${wanted.groups}`
    const group = groups.get(name)
    if (group) group.push(stream)
    else groups.set(name, [stream])
  }
  return [...groups.values()]
}

/** Follows the events for all open streams of this process. Streams that need the same events share one read. */
export function createStreams(options: StreamsOptions) {
  const { database, clock, findAccess, rights, serving, onError } = options
  const { heartbeat_ms = default_heartbeat_ms, poll_ms = default_poll_ms } = options
  const { max_unsent_bytes = default_max_unsent_bytes } = options
  const { db } = database
  const streams = new Set<Stream>()
  const changes = createChanges(db, clock, rights, wake)
  const recheck = createRecheck(findAccess, clock)
  const output = createOutput(streams, max_unsent_bytes, wake)
  let subscribed = false
  let closed = false
  let following: Promise<void> | null = null
  let woken = false
  let resume = () => {}

  function wake() {
    woken = true
    resume()
  }

  function end(stream: Stream) {
    output.forget(stream)
    // Unread bytes would keep the connection open, so destroy it.
    if (stream.raw.writableLength > 0) stream.raw.destroy()
    else stream.raw.end()
  }

  function deliver(stream: Stream, { events, reached }: EventPart) {
    for (const { seq, event, payload } of events) {
      if (stream.blocked || !streams.has(stream) || !output.hasRoom()) return
      output.write(stream, `id: ${seq}\nevent: ${event}\ndata: ${payload}\n\n`)
      stream.cursor = seq
    }
    stream.cursor = Math.max(stream.cursor, reached)
  }

  /** Writes new events and hints. True when more events can be read at once. */
  async function poll(): Promise<boolean> {
    await recheck(streams, end)
    const more = await sendEvents()
    await changes.sendHints(streams, output.write)
    return more
  }

  async function sendEvents(): Promise<boolean> {
    const followed = [...new Set([...streams].map(({ access }) => access.workspace_id))]
    const newest = await newestSeqs(db, followed)
    const groups = groupsBehind(streams, newest, rights)
    let more = false
    async function read(group: Stream[]) {
      const [{ access, names, cursor }] = group as [Stream]
      const { workspace_id } = access
      const wanted = wantedOf(rights, access.scopes, names)
      const range = { ...wanted, workspace_id, after: cursor, up_to: newest.get(workspace_id) ?? 0 }
      const part = await readEvents(db, range, events_at_once)
      for (const stream of group) deliver(stream, part)
      more ||= !part.whole && output.hasRoom()
    }
    const waiting = groups.values()
    const readOn = async () => {
      for (const group of waiting) await read(group)
    }
    await Promise.all(Array.from({ length: readers_at_once }, readOn))
    return more
  }

  function beat() {
    const before = performance.now() - heartbeat_ms
    for (const stream of streams)
      if (!stream.blocked && stream.wrote_at <= before) output.write(stream, ':\n\n')
  }

  async function follow() {
    let failing = false
    while (streams.size) {
      if (!serving() || closed) for (const stream of streams) end(stream)
      woken = false
      const started = performance.now()
      const more = await poll().then(
        (more) => {
          failing = false
          return more
        },
        (error) => {
          // The database is unavailable. Report it once; the streams wait.
          if (!failing) onError(error)
          failing = true
          return false
        },
      )
      beat()
      if (more) {
        // SQLite answers without leaving the event loop, so yield to other work.
        await nextTurn()
        continue
      }
      if (!woken || failing) await rest(Math.min(poll_ms, heartbeat_ms))
      await pause(Math.max(0, min_poll_ms - (performance.now() - started)))
    }
    following = null
  }

  const rest = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      resume = () => {
        clearTimeout(timer)
        resolve()
      }
    })

  return {
    /** Throws when the service is stopping, or a limit of streams is reached. */
    admit(access: Access): void {
      if (closed || !serving()) throw unavailable('The service is stopping.', 1)
      refuseBeyondLimits(streams, access)
    },
    /** The initial hints of a new stream. */
    hints: changes.begin,
    /** Streams events to an answer whose headers are written, until the client or the service ends it. */
    open(follower: Follower, raw: ServerResponse, wishes: Wishes): void {
      // A client that has already disconnected emits no further event.
      if (raw.destroyed) return
      const stream = { ...follower, ...wishes, ...recipientOf(raw) }
      if (!subscribed) {
        database.onCommit('events', wake)
        database.onCommit('changes', () => [...streams].some(({ hints }) => hints) && wake())
      }
      subscribed = true
      streams.add(stream)
      raw.on('error', () => {})
      raw.on('close', () => output.forget(stream))
      // Send the id first: a client that disconnects before the first event resumes here.
      output.write(stream, `retry: ${retry_ms}\nid: ${stream.cursor}\n\n`)
      following ??= follow()
      wake()
    },
    count: () => streams.size,
    /** Ends all streams. Resolves when the last read has ended. */
    async close(): Promise<void> {
      closed = true
      for (const stream of streams) end(stream)
      wake()
      await following
    },
  }
}
const tooMany = (message: string) =>
  new ApiError('rate_limited', message, { headers: { 'retry-after': '5' } })

export type Streams = ReturnType<typeof createStreams>
