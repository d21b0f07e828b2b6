import { type Selectable, sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { chosenIds } from '../../db/lists/pages.ts'
import type { AuditLogTable } from '../../db/tables.ts'
import { namedActors } from '../../events/actors.ts'
import { listed_sides, listedSides } from '../../events/audit.ts'

type Change = Pick<
  Selectable<AuditLogTable>,
  'id' | 'action' | 'actor_kind' | 'actor_id' | 'before' | 'after' | 'request_id'
> &
  Record<'before_bytes' | 'after_bytes', number>

/** What entries of the audit log show, by their ids; long sides are left out. */
export async function changes(db: Db, workspace_id: number, ids: number[]): Promise<Map<number, object>> {
  const { rows } = await sql<Change>`
    SELECT a.id, a.action, a.actor_kind, a.actor_id, a.request_id, ${sql.join(listed_sides)}
    FROM ${chosenIds(ids)} CROSS JOIN audit_log AS a
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
