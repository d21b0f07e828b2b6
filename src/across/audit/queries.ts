import { type Selectable, sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { chosenIds } from '../../db/statements/recordset.ts'
import type { AuditLogTable } from '../../db/tables.ts'
import { type NamedActor, namedActors } from '../../events/actors.ts'
import { type ListedSides, listed_sides, listedSides, sideOf } from '../../events/audit.ts'
import type { Resource } from '../../resources/resource.ts'
import { titlesOf } from '../titles.ts'
import { type AuditFilters, type AuditPage, newestIds } from './matching.ts'
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
  'change_group',
] as const

/** The entries that match, newest first. */
export async function listEntries(
  db: Db,
  workspace_id: number,
  filters: AuditFilters,
  window: AuditPage,
): Promise<ListedAuditEntry[]> {
  const ids = await newestIds(db, workspace_id, filters, window)
  const entries = await readEntries(db, workspace_id, ids)
  return ids.flatMap((id) => entries.get(id) ?? [])
}

/** The same entries with the present titles of their records. */
export async function withTitles(
  db: Db,
  workspace_id: number,
  resources: readonly Resource[],
  entries: readonly ListedAuditEntry[],
): Promise<ListedAuditEntry[]> {
  const records = entries.map(({ kind, record_id }) => ({ kind, id: String(record_id) }))
  const titleOf = await titlesOf(db, workspace_id, resources, records)
  return entries.map((entry) => ({ ...entry, title: titleOf(entry.kind, String(entry.record_id)) }))
}

type Row = Pick<Selectable<AuditLogTable>, (typeof columns)[number]>
const listed_columns = sql.join([...columns.map((name) => sql.ref(`a.${name}`)), ...listed_sides])

/** Entries by their ids, with the names of their actors. Long sides are left out. */
export async function readEntries(
  db: Db,
  workspace_id: number,
  ids: readonly number[],
): Promise<Map<number, ListedAuditEntry>> {
  if (!ids.length) return new Map()
  const { rows } = await sql<Row & ListedSides>`
    SELECT ${listed_columns} FROM ${chosenIds(db, ids)} CROSS JOIN audit_log AS a
    WHERE a.workspace_id = ${workspace_id} AND a.id = chosen.value`.execute(db)
  const actors = rows.map(({ actor_kind: kind, actor_id: id }) => ({ kind, id }))
  const named = await namedActors(db, workspace_id, actors)
  return new Map(
    rows.flatMap((row, index) => {
      const actor = named[index]
      return actor ? [[row.id, { ...shownFacts(row, actor), ...listedSides(row) }] as const] : []
    }),
  )
}

/** An entry of these kinds (null for any) with both sides in full; null if it does not exist. */
export async function findEntry(
  db: Db,
  workspace_id: number,
  kinds: AuditFilters['kinds'],
  id: number,
): Promise<AuditEntry | null> {
  const row = await db
    .selectFrom('audit_log')
    .select([...columns, 'before', 'after'])
    .where((eb) => eb.and({ workspace_id, id }))
    .executeTakeFirst()
  if (!row || kinds?.includes(row.kind) === false) return null
  const { actor_kind, actor_id, before, after } = row
  const [actor] = await namedActors(db, workspace_id, [{ kind: actor_kind, id: actor_id }])
  return actor ? { ...shownFacts(row, actor), before: sideOf(before), after: sideOf(after) } : null
}

function shownFacts(row: Row, actor: NamedActor) {
  const { id, occurred_at, action, kind, record_id, request_id, change_group } = row
  return {
    id,
    occurred_at,
    actor,
    action,
    kind,
    record_id: /^\d+$/.test(record_id) ? Number(record_id) : record_id,
    request_id,
    group_id: change_group,
  }
}
