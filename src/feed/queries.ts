import { sql } from 'kysely'
import type { Db } from '../db/db.ts'
import { prepare } from '../db/prepare.ts'
import { mayReadEvent, readableGroups, type Scopes } from '../http/scopes.ts'

/** A stored event: `payload` is the text that was made with the change, as webhooks send it, without webhook_id. */
export type StoredEvent = { seq: number; event: string; payload: string }

/** Which events: of one name (null: of any), and of groups that the caller may read, such as `deal` (null: of all). */
export type Wanted = { event: string | null; groups: readonly string[] | null }

/** Where to read: above `after` up to `up_to`, both of them seqs. */
export type Stretch = Wanted & { workspace_id: number; after: number; up_to: number }

/** `reached`: the stretch was looked at up to there (backwards: down to there), that seq included; `whole`: to its end. */
export type Part = { events: StoredEvent[]; reached: number; whole: boolean }

type Order = 'asc' | 'desc'
type Asked = { workspace_id: number; after: number; up_to: number; limit: number }

// A test of a webhook is no event of the workspace.
const stretch = (db: Db, p: Omit<Asked, 'limit'>) =>
  db
    .selectFrom('events')
    .where('workspace_id', '=', p.workspace_id)
    .where('seq', '>', p.after)
    .where('seq', '<=', p.up_to)
    .where('event', '<>', 'ping')

const all = (order: Order) =>
  prepare((db, p: Asked) =>
    stretch(db, p).select(['seq', 'event', 'payload']).orderBy('seq', order).limit(p.limit),
  )
const named = (order: Order) =>
  prepare((db, p: Asked & { event: string }) =>
    stretch(db, p)
      .select(['seq', 'event', 'payload'])
      .where('event', '=', p.event)
      .orderBy('seq', order)
      .limit(p.limit),
  )
const grouped = (groups: readonly string[]) => (order: Order) =>
  prepare((db, p: Asked) =>
    stretch(db, p)
      .select(['seq', 'event', 'payload'])
      .where((eb) => eb.or(groups.map((group) => eb('event', 'like', sql.lit(`${group}.%`)))))
      .orderBy('seq', order)
      .limit(p.limit),
  )
const nth = (order: Order) =>
  prepare((db, p: Asked) => stretch(db, p).select('seq').orderBy('seq', order).limit(1).offset(p.limit))
const both = <T>(make: (order: Order) => T) => ({ asc: make('asc'), desc: make('desc') })
const queries = { all: both(all), named: both(named), nth: both(nth) }

type Grouped = ReturnType<typeof both<ReturnType<ReturnType<typeof grouped>>>>
// One for each set of groups that callers have: there are five groups.
const of_groups = new Map<string, Grouped>()
function queriesOf(groups: readonly string[]): Grouped {
  const name = groups.join()
  const known = of_groups.get(name) ?? both(grouped(groups))
  of_groups.set(name, known)
  return known
}

// A rare event among millions must not hold up whoever else waits: a part looks at so many events of any name.
const most_looked_at = 5000

/** Up to `limit` events of a stretch in the order of their seq, or backwards from its end. */
export async function readEvents(
  db: Db,
  { workspace_id, event, groups, after, up_to }: Stretch,
  limit: number,
  order: Order = 'asc',
): Promise<Part> {
  const forward = order === 'asc'
  if (groups?.length === 0) return { events: [], reached: forward ? up_to : after + 1, whole: true }
  let asked = { workspace_id, after, up_to }
  let whole = true
  if (event !== null || groups !== null) {
    const [too_far] = await queries.nth[order](db, { ...asked, limit: most_looked_at })
    if (too_far) asked = { ...asked, ...(forward ? { up_to: too_far.seq - 1 } : { after: too_far.seq }) }
    whole = !too_far
  }
  // One more tells whether there are more.
  const values = { ...asked, limit: limit + 1 }
  const found = await find(db, { event, groups }, values, order)
  const events = found.slice(0, limit)
  const last = events.at(-1)
  if (found.length > limit && last) return { events, reached: last.seq, whole: false }
  return { events, reached: forward ? asked.up_to : asked.after + 1, whole }
}

function find(db: Db, { event, groups }: Wanted, values: Asked, order: Order) {
  // The caller may read a name that is asked for: see wantedOf.
  if (event !== null) return queries.named[order](db, { ...values, event })
  return groups ? queriesOf(groups)[order](db, values) : queries.all[order](db, values)
}

/** What a caller is shown who asked for events of a name, or of any. */
export function wantedOf(scopes: Scopes, event: string | null): Wanted {
  if (event === null) return { event, groups: readableGroups(scopes) }
  return { event, groups: mayReadEvent(scopes, event) ? null : [] }
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

const recent = prepare((db, p: { workspace_id: number; since: string }) =>
  db
    .selectFrom('audit_log')
    .select(['id', 'kind'])
    .where('workspace_id', '=', p.workspace_id)
    .where('occurred_at', '>=', p.since),
)

/** The entries of a workspace's audit log that tell of a time or later ones, in no order; `since` as timestamps are. */
export const recentChanges = (
  db: Db,
  workspace_id: number,
  since: string,
): Promise<{ id: number; kind: string }[]> => recent(db, { workspace_id, since })
