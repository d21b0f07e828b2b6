import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { bytesOf, fitting } from '../../db/sizes.ts'
import { prepare } from '../../db/statements/prepare.ts'
import type { ReadRights, Scopes } from '../../http/scopes.ts'

/** A stored event: `payload` is the text that was made with the change, as webhooks send it, without webhook_id. */
export type StoredEvent = { seq: number; event: string; payload: string }

/** Which events: of one name (null: of any), and of groups that the caller may read, such as `deal` (null: of all). */
export type Wanted = { event: string | null; groups: readonly string[] | null }

/** Where to read: above `after` up to `up_to`, both of them seqs. */
export type Stretch = Wanted & { workspace_id: number; after: number; up_to: number }

/** `reached`: the stretch was looked at up to there (backwards: down to there), that seq included; `whole`: to its end. */
export type Part = { events: StoredEvent[]; reached: number; whole: boolean }

type Order = 'asc' | 'desc'
type Asked = { workspace_id: number; event: string; after: number; up_to: number; limit: number }

// A test of a webhook is no event of the workspace.
const stretch = (db: Db, p: Asked) =>
  db
    .selectFrom('events')
    .where('workspace_id', '=', p.workspace_id)
    .where('seq', '>', p.after)
    .where('seq', '<=', p.up_to)
    .where('event', '<>', 'ping')
type Matching = typeof stretch

const named: Matching = (db, p) => stretch(db, p).where('event', '=', p.event)
const grouped =
  (groups: readonly string[]): Matching =>
  (db, p) =>
    stretch(db, p).where((eb) => eb.or(groups.map((group) => eb('event', 'like', sql.lit(`${group}.%`)))))

const both = <T>(make: (order: Order) => T) => ({ asc: make('asc'), desc: make('desc') })
const queriesFor = (matching: Matching) => ({
  sizes: both((order) =>
    prepare((db, p: Asked) =>
      matching(db, p)
        .select(['seq', bytesOf('payload').as('bytes')])
        .orderBy('seq', order)
        .limit(p.limit),
    ),
  ),
  texts: both((order) =>
    prepare((db, p: Asked) =>
      matching(db, p).select(['seq', 'event', 'payload']).orderBy('seq', order).limit(p.limit),
    ),
  ),
})
type Queries = ReturnType<typeof queriesFor>
const queries = { all: queriesFor(stretch), named: queriesFor(named) }
const nth = both((order) =>
  prepare((db, p: Asked) => stretch(db, p).select('seq').orderBy('seq', order).limit(1).offset(p.limit)),
)

// One for each set of groups that callers have: there is a group for each resource with events.
const of_groups = new Map<string, Queries>()
function queriesOf({ event, groups }: Wanted): Queries {
  // The caller may read a name that is asked for: see wantedOf.
  if (event !== null) return queries.named
  if (groups === null) return queries.all
  const name = groups.join()
  const known = of_groups.get(name) ?? queriesFor(grouped(groups))
  of_groups.set(name, known)
  return known
}

// A rare event among millions must not hold up whoever else waits: a part looks at so many events of any name.
const max_looked_at = 5000

/** What a part of a stretch will have, found out before its texts are read: how many events, and their bytes. */
export type Measured = Omit<Part, 'events'> & { part: Stretch; order: Order; count: number; bytes: number }

/**
 * Looks how many of the next events of a stretch make a part: up to `limit`, and up to `max_bytes` of text or one event.
 * In the order of their seq, or backwards from the stretch's end.
 */
export async function measureEvents(
  db: Db,
  whole_stretch: Stretch,
  { limit, max_bytes, order = 'asc' }: { limit: number; max_bytes: number; order?: Order },
): Promise<Measured> {
  const forward = order === 'asc'
  const { event, groups, after, up_to } = whole_stretch
  const nothing = { part: whole_stretch, order, count: 0, bytes: 0 }
  if (groups?.length === 0) return { ...nothing, reached: forward ? up_to : after + 1, whole: true }
  let asked = { ...whole_stretch, event: event ?? '' }
  let whole = true
  if (event !== null || groups !== null) {
    const [too_far] = await nth[order](db, { ...asked, limit: max_looked_at })
    if (too_far) asked = { ...asked, ...(forward ? { up_to: too_far.seq - 1 } : { after: too_far.seq }) }
    whole = !too_far
  }
  // One more tells whether there are more.
  const found = await queriesOf(whole_stretch).sizes[order](db, { ...asked, limit: limit + 1 })
  const { count, bytes } = fitting(found.slice(0, limit), max_bytes)
  const last = found[count - 1]
  const cut = found.length > count && last
  const reached = cut ? last.seq : forward ? asked.up_to : asked.after + 1
  const part = { ...asked, event, ...(cut && (forward ? { up_to: last.seq } : { after: last.seq - 1 })) }
  return { part, order, count, bytes, reached, whole: whole && !cut }
}

/** Reads the events of a measured part. What was removed since is not among them. */
export async function readMeasured(db: Db, { part, order, count, reached, whole }: Measured): Promise<Part> {
  if (!count) return { events: [], reached, whole }
  const values = { ...part, event: part.event ?? '', limit: count }
  return { events: await queriesOf(part).texts[order](db, values), reached, whole }
}

/** The next events of a stretch, measured and read. */
export const readEvents = async (
  db: Db,
  stretch: Stretch,
  limits: { limit: number; max_bytes: number },
): Promise<Part> => readMeasured(db, await measureEvents(db, stretch, limits))

/** What a caller is shown who asked for events of a name, or of any. */
export function wantedOf(rights: ReadRights, scopes: Scopes, event: string | null): Wanted {
  if (event === null) return { event, groups: rights.readableGroups(scopes) }
  return { event, groups: rights.mayReadEvent(scopes, event) ? null : [] }
}

const newest = prepare((db, p: { workspace_id: number; up_to: number }) =>
  db
    .selectFrom('events')
    .select('seq')
    .where('workspace_id', '=', p.workspace_id)
    .where('seq', '<=', p.up_to)
    .orderBy('seq', 'desc')
    .limit(1),
)

/** The seq of the workspace's newest event up to a seq; 0 when there is none. */
export const newestSeq = async (db: Db, workspace_id: number, up_to: number): Promise<number> =>
  (await newest(db, { workspace_id, up_to }))[0]?.seq ?? 0

const active = prepare((db, p: { after: number; up_to: number }) =>
  db
    .selectFrom('events')
    .select('workspace_id')
    .distinct()
    .where('seq', '>', p.after)
    .where('seq', '<=', p.up_to),
)

/** The workspaces that have events in a stretch: one look for all who follow. */
export async function activeWorkspaces(db: Db, after: number, up_to: number): Promise<Set<number>> {
  return new Set((await active(db, { after, up_to })).map(({ workspace_id }) => workspace_id))
}

const recent = prepare((db, p: { workspace_id: number; since: string; limit: number }) =>
  db
    .selectFrom('audit_log')
    .select(['id', 'kind'])
    .where('workspace_id', '=', p.workspace_id)
    .where('occurred_at', '>=', p.since)
    .limit(p.limit),
)

/**
 * The entries of a workspace's audit log that tell of a time or later ones, up to `limit` of them in no order; `since` as
 * timestamps are.
 */
export const recentChanges = (
  db: Db,
  workspace_id: number,
  since: string,
  limit: number,
): Promise<{ id: number; kind: string }[]> => recent(db, { workspace_id, since, limit })
