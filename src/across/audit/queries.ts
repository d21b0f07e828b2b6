import { type Selectable, sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import type { AuditLogTable } from '../../db/tables.ts'
import { type NamedActor, namedActors } from '../../events/actors.ts'
import { type ListedSides, listed_sides, listedSides, sideOf } from '../../events/audit.ts'
import { type AuditFilters, newestIds, type Window } from './matching.ts'
import type { AuditEntry, ListedAuditEntry } from './schema.ts'

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
