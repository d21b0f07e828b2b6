import { type Clock, isoTime } from '../../clock.ts'
import type { Db } from '../../db/db.ts'
import type { Access } from '../../http/auth.ts'
import type { ReadRights } from '../../http/scopes.ts'
import { recentChanges, recentNotifications } from './queries.ts'

// Kinds without a list.
const unlisted = new Set(['workspaces', 'sessions'])
// Notifications belong to a person, so no scope decides who hears of them. The audit log has no entry of them.
const own_kind = 'notifications'
// A change has the time of its operation's start. A change that commits more than 30 s later is not reported.
const max_commit_delay_ms = 30_000
// Polling may use at most 5 % of the time. A pause is at most 1 s.
const rest_factor = 20
const max_rest_ms = 1000
// With more entries in one poll, report every kind as changed: that is nearly true, and reading more costs more.
const max_entries = 5000

/** An entry that was read. Only the streams of `user_id` report a notification. */
type Entry = { key: number | string; kind: string; user_id?: string }

/** The state of a stream: the entries that were read for its workspace, and the kinds that are not yet sent. */
export type Hints = {
  workspace_id: number
  /** The person who follows; null for a key, which has no notifications. */
  user_id: string | null
  at_ms: number
  keys: ReadonlySet<Entry['key']>
  unsent: Set<string>
}

type Listener = { access: Access; hints: Hints | null; blocked: boolean }

/**
 * Reports the kinds of changed records from the audit log. Its ids do not follow the order of commits on PostgreSQL,
 * and have no index on SQLite. So a poll reads the last 30 s by the index of times, and ignores entries of the last
 * poll. Calls `wake` when a postponed poll is due.
 */
export function createChanges(db: Db, clock: Clock, rights: ReadRights, wake: () => void) {
  let rest_until_ms = 0
  let later: NodeJS.Timeout | undefined

  async function read(workspace_id: number, polled_at_ms: number, has_people: boolean) {
    // Start at the earlier time: the last poll may be long ago, or the clock was set back since.
    const at_ms = clock.now()
    const since = isoTime(Math.min(at_ms, polled_at_ms) - max_commit_delay_ms)
    const changes = await recentChanges(db, workspace_id, since, max_entries + 1)
    const notified = has_people ? await recentNotifications(db, workspace_id, since, max_entries + 1) : []
    if (Math.max(changes.length, notified.length) > max_entries) {
      const entries: Entry[] = [...rights.kinds, own_kind].map((kind) => ({ key: 0, kind }))
      return { entries, at_ms, keys: new Set<Entry['key']>() }
    }
    const entries: Entry[] = changes.map(({ id, kind }) => ({ key: id, kind }))
    for (const { id, user_id, changed_at } of notified)
      entries.push({ key: `${id} ${changed_at}`, kind: own_kind, user_id })
    return { entries, at_ms, keys: new Set(entries.map(({ key }) => key)) }
  }

  // One query for each workspace. During a rest it only schedules the next poll.
  async function poll(all: readonly Hints[]) {
    const started = performance.now()
    clearTimeout(later)
    if (started < rest_until_ms) {
      later = setTimeout(wake, rest_until_ms - started).unref()
      return
    }
    for (const [workspace_id, followers] of Map.groupBy(all, (hints) => hints.workspace_id)) {
      const polled_at_ms = Math.min(...followers.map(({ at_ms }) => at_ms))
      const has_people = followers.some(({ user_id }) => user_id !== null)
      const { entries, at_ms, keys } = await read(workspace_id, polled_at_ms, has_people)
      for (const hints of followers) {
        for (const { key, kind, user_id = hints.user_id } of entries)
          if (user_id === hints.user_id && !hints.keys.has(key)) hints.unsent.add(kind)
        Object.assign(hints, { at_ms, keys })
      }
    }
    const ended = performance.now()
    rest_until_ms = ended + Math.min(max_rest_ms, rest_factor * (ended - started))
  }

  return {
    /** The initial state of a stream: changes from before are not reported. */
    async begin({ workspace_id, actor }: Pick<Access, 'workspace_id' | 'actor'>): Promise<Hints> {
      const user_id = actor.kind === 'person' ? actor.id : null
      // The next poll starts at the earliest time of all streams, so read further back.
      const earlier_ms = clock.now() - max_commit_delay_ms
      const { at_ms, keys } = await read(workspace_id, earlier_ms, user_id !== null)
      return { workspace_id, user_id, at_ms, keys, unsent: new Set() }
    },
    /** Writes new changes to all streams. A blocked stream gets them later, in one frame. */
    async sendHints<Stream extends Listener>(
      all: Iterable<Stream>,
      write: (to: Stream, frame: string) => void,
    ): Promise<void> {
      await poll([...all].flatMap(({ hints }) => hints ?? []))
      for (const stream of all) {
        const frame = stream.hints && !stream.blocked && takeFrame(rights, stream.hints, stream.access)
        if (frame) write(stream, frame)
      }
    },
  }
}

/** The frame with the unsent kinds that the caller may read; empty without any. */
function takeFrame(rights: ReadRights, { unsent, user_id }: Hints, { scopes: allowed }: Access): string {
  const kinds = [...unsent].filter((kind) =>
    kind === own_kind ? user_id !== null : !unlisted.has(kind) && rights.mayRead(allowed, kind),
  )
  unsent.clear()
  // No id: the client's position in the events must not change.
  return kinds.length ? `event: changed\ndata: ${JSON.stringify({ kinds: kinds.sort() })}\n\n` : ''
}
