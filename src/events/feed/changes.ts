import { type Clock, isoTime } from '../../clock.ts'
import type { Db } from '../../db/db.ts'
import type { Access } from '../../http/auth.ts'
import type { ReadRights } from '../../http/scopes.ts'
import { recentChanges } from './queries.ts'

// No list shows records of these.
const unlisted = new Set(['workspaces', 'sessions'])
// A change has its time from its operation's start: what commits later than this after it is not told.
const latest_ms = 30_000
// Looking takes no more than about one part in so many of the time, however much is changed; but nobody waits longer.
const share = 20
const max_rest_ms = 1000
// Beyond so many entries in the time of one look, every kind counts as changed: it nearly is, and reading on costs more.
const max_entries = 5000

/** A stream's part: what of its workspace's changes was looked at for it, and the kinds that it is still to be told of. */
export type Hints = { workspace_id: number; at_ms: number; ids: ReadonlySet<number>; untold: Set<string> }

type Listener = { access: Access; hints: Hints | null; blocked: boolean }

/**
 * Tells in which kinds of records something was changed, by the audit log. Its ids are not in the order of commits on
 * PostgreSQL, nor is there an index by them on SQLite; so a look reads the last seconds again, by the index of times that
 * both have, and leaves out what the look before had. Calls `wake` when it is time for a look that was put off.
 */
export function createChanges(db: Db, clock: Clock, rights: ReadRights, wake: () => void) {
  let rest_until = 0
  let later: NodeJS.Timeout | undefined

  async function read(workspace_id: number, looked_at_ms: number) {
    // From the earlier one: no time is left out when the last look is long ago, or when the clock was set back since.
    const at_ms = clock.now()
    const since = isoTime(Math.min(at_ms, looked_at_ms) - latest_ms)
    const entries = await recentChanges(db, workspace_id, since, max_entries + 1)
    if (entries.length > max_entries) {
      const everything = rights.kinds.map((kind) => ({ id: 0, kind }))
      return { entries: everything, at_ms, ids: new Set<number>() }
    }
    return { entries, at_ms, ids: new Set(entries.map(({ id }) => id)) }
  }

  // One query for each workspace, or none when the last ones were a moment ago.
  async function look(all: readonly Hints[]) {
    const started = performance.now()
    clearTimeout(later)
    if (started < rest_until) {
      later = setTimeout(wake, rest_until - started).unref()
      return
    }
    for (const [workspace_id, followers] of Map.groupBy(all, (hints) => hints.workspace_id)) {
      const looked_at_ms = Math.min(...followers.map(({ at_ms }) => at_ms))
      const { entries, at_ms, ids } = await read(workspace_id, looked_at_ms)
      for (const hints of followers) {
        for (const { id, kind } of entries) if (!hints.ids.has(id)) hints.untold.add(kind)
        Object.assign(hints, { at_ms, ids })
      }
    }
    const ended = performance.now()
    rest_until = ended + Math.min(max_rest_ms, share * (ended - started))
  }

  return {
    /** Where a stream begins that is opened now: nothing that is there already is told. */
    async begin(workspace_id: number): Promise<Hints> {
      // Others may have looked some seconds ago, and the next look is for all of them.
      const { at_ms, ids } = await read(workspace_id, clock.now() - latest_ms)
      return { workspace_id, at_ms, ids, untold: new Set() }
    },
    /** Writes to all who listen what is new to them; a blocked one is told later, together with what comes then. */
    async tell<One extends Listener>(
      all: Iterable<One>,
      write: (to: One, frame: string) => void,
    ): Promise<void> {
      await look([...all].flatMap(({ hints }) => hints ?? []))
      for (const one of all) {
        const frame = one.hints && !one.blocked && takeFrame(rights, one.hints, one.access)
        if (frame) write(one, frame)
      }
    },
  }
}

/** The frame that tells what is untold, as far as the access lists it; empty when that is nothing. */
function takeFrame(rights: ReadRights, { untold }: Hints, { scopes: allowed }: Access): string {
  const kinds = [...untold].filter((kind) => !unlisted.has(kind) && rights.mayRead(allowed, kind))
  untold.clear()
  // Without an id: the place of the events stays.
  return kinds.length ? `event: changed\ndata: ${JSON.stringify({ kinds: kinds.sort() })}\n\n` : ''
}
