import { type Selectable, sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import type { AuditLogTable, DealStagesTable } from '../../db/tables.ts'
import { actorOf, namedActors } from '../../events/actors.ts'
import { listed_sides, listedSides } from '../../events/audit.ts'

// Joined one by one: for a list of ids, SQLite without statistics would rather read all rows of the workspace.
const chosen = (ids: number[]) =>
  sql`(VALUES ${sql.join(ids.map((id) => sql`(CAST(${id} AS bigint))`))}) AS chosen`

type StageChange = Pick<Selectable<DealStagesTable>, 'id' | 'deal_id' | 'changed_by'> &
  Record<'deal_name' | 'from' | 'to', string>

/** What stage changes show, by their ids. */
export async function stageChanges(
  db: Db,
  workspace_id: number,
  ids: number[],
): Promise<Map<number, object>> {
  if (!ids.length) return new Map()
  const { rows } = await sql<StageChange>`
    SELECT s.id, s.deal_id, d.name AS deal_name, s.from_stage AS "from", s.to_stage AS "to", s.changed_by
    FROM ${chosen(ids)} CROSS JOIN deal_stages AS s CROSS JOIN deals AS d
    WHERE s.workspace_id = ${workspace_id} AND s.id = chosen.column1
      AND d.workspace_id = s.workspace_id AND d.id = s.deal_id AND d.deleted_at IS NULL`.execute(db)
  const actors = rows.map(({ changed_by }) => actorOf(changed_by))
  const named = await namedActors(db, workspace_id, actors)
  return new Map(rows.map(({ id, changed_by: _, ...shown }, index) => [id, { ...shown, by: named[index] }]))
}

type Change = Pick<
  Selectable<AuditLogTable>,
  'id' | 'action' | 'actor_kind' | 'actor_id' | 'before' | 'after' | 'request_id'
> &
  Record<'before_bytes' | 'after_bytes', number>

/** What entries of the audit log show, by their ids; long sides are left out. */
export async function changes(db: Db, workspace_id: number, ids: number[]): Promise<Map<number, object>> {
  if (!ids.length) return new Map()
  const { rows } = await sql<Change>`
    SELECT a.id, a.action, a.actor_kind, a.actor_id, a.request_id, ${sql.join(listed_sides)}
    FROM ${chosen(ids)} CROSS JOIN audit_log AS a
    WHERE a.workspace_id = ${workspace_id} AND a.id = chosen.column1`.execute(db)
  const actors = rows.map(({ actor_kind: kind, actor_id: id }) => ({ kind, id }))
  const named = await namedActors(db, workspace_id, actors)
  return new Map(
    rows.map(({ id, action, request_id, ...row }, index) => [
      id,
      { action, actor: named[index], ...listedSides(row), request_id },
    ]),
  )
}
