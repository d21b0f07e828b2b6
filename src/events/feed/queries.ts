import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { bytesOf, fitting } from '../../db/sizes.ts'
import { prepare } from '../../db/statements/prepare.ts'
import { isAnyOf, listParameter, prepareRows } from '../../db/statements/recordset.ts'
import type { ReadRights, Scopes } from '../../http/scopes.ts'
import { payloadOf } from '../emit.ts'

/** An event. `payload` is the text that webhooks send, without webhook_id. */
export type StoredEvent = { seq: number; event: string; payload: string }

/** The events to read: of some names, or of groups such as `deal`. Null: of all. */
export type Wanted = { names: readonly string[] | null; groups: readonly string[] | null }

/** A range of seqs: above `after`, up to and including `up_to`. */
export type SeqRange = Wanted & { workspace_id: number; after: number; up_to: number }

/** `reached` is the last seq that was read, in the direction of reading. `whole`: the range was read to its end. */
export type EventPart = { events: StoredEvent[]; reached: number; whole: boolean }

type Direction = 'asc' | 'desc'
type RangeQuery = { workspace_id: number; names: unknown; after: number; up_to: number; limit: number }

// A ping tests a webhook and is not an event of the workspace. Nor is an event for one webhook.
const eventsIn = (db: Db, p: RangeQuery) =>
  db
    .selectFrom('events')
    .where('workspace_id', '=', p.workspace_id)
    .where('seq', '>', p.after)
    .where('seq', '<=', p.up_to)
    .where('event', '<>', 'ping')
    .where('webhook_id', 'is', null)
type Matching = typeof eventsIn

const named: Matching = (db, p) => eventsIn(db, p).where(isAnyOf(db, 'event', p.names, 'text'))
const grouped =
  (groups: readonly string[]): Matching =>
  (db, p) =>
    eventsIn(db, p).where((eb) => eb.or(groups.map((group) => eb('event', 'like', sql.lit(`${group}.%`)))))

const both = <T>(make: (order: Direction) => T) => ({ asc: make('asc'), desc: make('desc') })
const queriesFor = (matching: Matching) => ({
  sizes: both((order) =>
    prepare((p: RangeQuery, db) =>
      matching(db, p)
        .select(['seq', bytesOf('payload').as('bytes')])
        .orderBy('seq', order)
        .limit(p.limit),
    ),
  ),
  texts: both((order) =>
    prepare((p: RangeQuery, db) =>
      matching(db, p).select(['seq', 'event', 'payload']).orderBy('seq', order).limit(p.limit),
    ),
  ),
})
type Queries = ReturnType<typeof queriesFor>
const queries = { all: queriesFor(eventsIn), named: queriesFor(named) }
const nth = both((order) =>
  prepare((p: RangeQuery, db) =>
    eventsIn(db, p).select('seq').orderBy('seq', order).limit(1).offset(p.limit),
  ),
)

// Cached queries for each set of groups. Each resource with events is a group.
const of_groups = new Map<string, Queries>()
function queriesOf({ names, groups }: Wanted): Queries {
  if (names !== null) return queries.named
  if (groups === null) return queries.all
  const name = groups.join()
  const known = of_groups.get(name) ?? queriesFor(grouped(groups))
  of_groups.set(name, known)
  return known
}

// The most events of any name that a part scans. So a rare event does not block other requests.
const max_scanned = 5000

const parametersOf = (db: Db, range: SeqRange) => ({ ...range, names: listParameter(db, range.names ?? []) })

/** The number of events in a part and their bytes, measured before the texts are read. */
export type MeasuredPart = Omit<EventPart, 'events'> & {
  part: SeqRange
  order: Direction
  count: number
  bytes: number
}

/**
 * Measures the next part of a range: up to `limit` events and `max_bytes` of text, but at least one event. It follows seq,
 * or goes backwards from the end of the range.
 */
export async function measureEvents(
  db: Db,
  range: SeqRange,
  { limit, max_bytes, order = 'asc' }: { limit: number; max_bytes: number; order?: Direction },
): Promise<MeasuredPart> {
  const forward = order === 'asc'
  const { names, groups, after, up_to } = range
  const nothing = { part: range, order, count: 0, bytes: 0 }
  if ((names ?? groups)?.length === 0)
    return { ...nothing, reached: forward ? up_to : after + 1, whole: true }
  let asked = parametersOf(db, range)
  let whole = true
  if (names !== null || groups !== null) {
    const [too_far] = await nth[order](db, { ...asked, limit: max_scanned })
    if (too_far) asked = { ...asked, ...(forward ? { up_to: too_far.seq - 1 } : { after: too_far.seq }) }
    whole = !too_far
  }
  // Read one more row to see whether there are more.
  const found = await queriesOf(range).sizes[order](db, { ...asked, limit: limit + 1 })
  const { count, bytes } = fitting(found.slice(0, limit), max_bytes)
  const last = found[count - 1]
  const cut = found.length > count && last
  const reached = cut ? last.seq : forward ? asked.up_to : asked.after + 1
  const part = { ...asked, names, ...(cut && (forward ? { up_to: last.seq } : { after: last.seq - 1 })) }
  return { part, order, count, bytes, reached, whole: whole && !cut }
}

/** Reads the events of a measured part. Events that were removed since are left out. */
export async function readMeasured(
  db: Db,
  { part, order, count, reached, whole }: MeasuredPart,
): Promise<EventPart> {
  if (!count) return { events: [], reached, whole }
  const values = { ...parametersOf(db, part), limit: count }
  const stored = await queriesOf(part).texts[order](db, values)
  return { events: stored.map((event) => ({ ...event, payload: payloadOf(event) })), reached, whole }
}

/** The next events of a range, measured and read. */
export const readEvents = async (
  db: Db,
  range: SeqRange,
  limits: { limit: number; max_bytes: number },
): Promise<EventPart> => readMeasured(db, await measureEvents(db, range, limits))

/** The readable events of a caller who asked for some names, or for all (null). */
export function wantedOf(rights: ReadRights, scopes: Scopes, asked: readonly string[] | null): Wanted {
  if (asked === null) return { names: null, groups: rights.readableGroups(scopes) }
  return { names: asked.filter((name) => rights.mayReadEvent(scopes, name)), groups: null }
}

const newest = prepareRows(
  { workspace_id: 'bigint!' },
  ({ row, rows }) => sql<{ workspace_id: number; seq: number | null }>`
      SELECT ${row.workspace_id} AS workspace_id,
        (SELECT max(e.seq) FROM events AS e WHERE e.workspace_id = ${row.workspace_id}) AS seq ${rows('FROM')}`,
)

/**
 * The seq of the newest event of each workspace; 0 without one. All events up to it can be read: a later commit of the
 * workspace has a larger seq. Query the primary, and read the events in a later statement.
 */
export async function newestSeqs(db: Db, workspace_ids: readonly number[]): Promise<Map<number, number>> {
  const found = await newest(
    db,
    workspace_ids.map((workspace_id) => ({ workspace_id })),
    {},
  )
  return new Map(found.map(({ workspace_id, seq }) => [workspace_id, seq ?? 0]))
}

/** The seq of the newest event of a workspace; 0 without one. */
export const newestSeq = async (db: Db, workspace_id: number): Promise<number> =>
  (await newestSeqs(db, [workspace_id])).get(workspace_id) ?? 0

const recent = prepare((p: { workspace_id: number; since: string; limit: number }, db) =>
  db
    .selectFrom('audit_log')
    .select(['id', 'kind'])
    .where('workspace_id', '=', p.workspace_id)
    .where('occurred_at', '>=', p.since)
    .limit(p.limit),
)

/** Entries of a workspace's audit log at or after `since` (ISO text), up to `limit`, in no order. */
export const recentChanges = (
  db: Db,
  workspace_id: number,
  since: string,
  limit: number,
): Promise<{ id: number; kind: string }[]> => recent(db, { workspace_id, since, limit })

const notified = prepare((p: { workspace_id: number; since: string; limit: number }, db) =>
  db
    .selectFrom('notifications')
    .select(['id', 'user_id', 'changed_at'])
    .where('workspace_id', '=', p.workspace_id)
    .where('changed_at', '>=', p.since)
    .where('held_by', 'is', null)
    .limit(p.limit),
)

/** Notifications of a workspace that changed at or after `since` (ISO text), up to `limit`, in no order. */
export const recentNotifications = (
  db: Db,
  workspace_id: number,
  since: string,
  limit: number,
): Promise<{ id: number; user_id: string; changed_at: string }[]> =>
  notified(db, { workspace_id, since, limit })
