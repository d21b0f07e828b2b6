import { type Selectable, sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import type { AuditLogTable } from '../../db/tables.ts'
import { type NamedActor, namedActors } from '../../events/actors.ts'
import { type ListedSides, listed_sides, listedSides, sideOf } from '../../events/audit.ts'
import type { AuditEntry, ListedAuditEntry } from './schema.ts'

export type AuditFilters = {
  /** Entries of these kinds alone; null: of all. */
  kinds: readonly string[] | null
  record_id?: string | undefined
  action?: string | undefined
  actor_id?: string | undefined
  from?: string | undefined
  to?: string | undefined
}

/** A place in the log: the time and the id of an entry. */
export type Place = readonly [string, number]

type Window = { limit: number; offset?: number; after?: Place | null }

function matching(db: Db, workspace_id: number, { kinds: _, from, to, ...equal }: AuditFilters) {
  let query = db.selectFrom('audit_log').where('workspace_id', '=', workspace_id)
  for (const [name, value] of Object.entries(equal))
    if (value !== undefined) query = query.where(sql.ref<string>(name), '=', value)
  if (from !== undefined) query = query.where('occurred_at', '>=', from)
  if (to !== undefined) query = query.where('occurred_at', '<=', to)
  return query
}

/** How many entries match; counted, by an index. */
export async function countEntries(db: Db, workspace_id: number, filters: AuditFilters): Promise<number> {
  const { kinds } = filters
  if (kinds?.length === 0) return 0
  const all = matching(db, workspace_id, filters)
  const { n } = await (kinds ? all.where('kind', 'in', kinds) : all)
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  return n
}

const columns = [
  'id',
  'occurred_at',
  'actor_kind',
  'actor_id',
  'action',
  'kind',
  'record_id',
  'request_id',
] as const

/** Entries that match, newest first, with the names of who made them; long sides are left out. */
export async function listEntries(
  db: Db,
  workspace_id: number,
  filters: AuditFilters,
  window: Window,
): Promise<ListedAuditEntry[]> {
  if (filters.kinds?.length === 0) return []
  const rows = await newest(db, workspace_id, filters, window)
  const actors = rows.map(({ actor_kind: kind, actor_id: id }) => ({ kind, id }))
  const named = await namedActors(db, workspace_id, actors)
  return rows.flatMap((row, index) => {
    const actor = named[index]
    return actor ? [{ ...shownFacts(row, actor), ...listedSides(row) }] : []
  })
}

type Row = Pick<Selectable<AuditLogTable>, (typeof columns)[number]>
type ListedRow = Row & ListedSides
const listed_columns = sql.join([...columns.map((name) => sql.ref(`a.${name}`)), ...listed_sides])

// By ids, which the indexes give without reading an entry that is not shown.
async function newest(
  db: Db,
  workspace_id: number,
  filters: AuditFilters,
  window: Window,
): Promise<ListedRow[]> {
  const ids = await newestIds(db, workspace_id, filters, window)
  if (!ids.length) return []
  // Joined one by one: for a list of ids, SQLite without statistics would read all rows of the workspace.
  const chosen = sql.join(ids.map((id) => sql`(CAST(${id} AS bigint))`))
  const { rows } = await sql<ListedRow>`
    SELECT ${listed_columns} FROM (VALUES ${chosen}) AS chosen CROSS JOIN audit_log AS a
    WHERE a.workspace_id = ${workspace_id} AND a.id = chosen.column1`.execute(db)
  const by_id = new Map(rows.map((row) => [row.id, row]))
  return ids.flatMap((id) => by_id.get(id) ?? [])
}

async function newestIds(
  db: Db,
  workspace_id: number,
  filters: AuditFilters,
  { limit, offset = 0, after }: Window,
): Promise<number[]> {
  const { kinds, action, actor_id } = filters
  let all = matching(db, workspace_id, filters).select(['id', 'occurred_at'])
  if (after) all = all.where(sql<boolean>`(occurred_at, id) < (${after[0]}, ${after[1]})`)
  const latest = (query: typeof all) => query.orderBy('occurred_at', 'desc').orderBy('id', 'desc')
  const [only] = kinds?.length === 1 ? kinds : []
  if (only !== undefined) all = all.where('kind', '=', only)
  // Their own indexes have the order of the list, and the kind behind it.
  else if (kinds && (action ?? actor_id) !== undefined)
    all = all.where(sql<string>`coalesce(kind, null)`, 'in', kinds)
  else if (kinds) {
    // Each kind is cut by its own index before all are sorted together: a rare one costs no walk through the log.
    const parts = kinds.map((kind, n) => {
      const part = latest(all.where('kind', '=', kind)).limit(limit + offset)
      return sql`SELECT id, occurred_at FROM (${part}) AS ${sql.ref(`part_${n}`)}`
    })
    const { rows } = await sql<{ id: number }>`${sql.join(parts, sql` UNION ALL `)}
      ORDER BY occurred_at DESC, id DESC LIMIT ${limit} OFFSET ${offset}`.execute(db)
    return rows.map(({ id }) => id)
  }
  return (await latest(all).limit(limit).offset(offset).execute()).map(({ id }) => id)
}

/** One entry of these kinds (null: of any) with both sides, however long they are; null when there is none. */
export async function findEntry(
  db: Db,
  workspace_id: number,
  kinds: AuditFilters['kinds'],
  id: number,
): Promise<AuditEntry | null> {
  const row = await db
    .selectFrom('audit_log')
    .select([...columns, 'before', 'after'])
    .where('workspace_id', '=', workspace_id)
    .where('id', '=', id)
    .executeTakeFirst()
  if (!row || kinds?.includes(row.kind) === false) return null
  const { actor_kind, actor_id, before, after } = row
  const [actor] = await namedActors(db, workspace_id, [{ kind: actor_kind, id: actor_id }])
  return actor ? { ...shownFacts(row, actor), before: sideOf(before), after: sideOf(after) } : null
}

function shownFacts(row: Row, actor: NamedActor) {
  const { id, occurred_at, action, kind, record_id, request_id } = row
  return {
    ...{ id, occurred_at, actor, action, kind },
    record_id: /^\d+$/.test(record_id) ? Number(record_id) : record_id,
    request_id,
  }
}
