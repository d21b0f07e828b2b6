import { type Selectable, sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { chosenIds } from '../../db/statements/recordset.ts'
import type { DealStagesTable } from '../../db/tables.ts'
import { actorOf, namedActors } from '../../events/actors.ts'
import { linkTo } from '../derived.ts'
import type { OtherEntries } from '../room.ts'
import { deals } from './resource.ts'

/** The stage changes of deals, as entries of timelines. */
export const stage_changes: OtherEntries = {
  type: 'stage_change',
  rank: 5,
  about: 'deal_id, deal_name, from, to, by.',

  /** The changes of an owner's deals, or of the owner itself when it is a deal. */
  rowsOf(owner) {
    const link = owner.table === deals.table ? 'id' : linkTo(deals, owner.table)
    if (!link) return undefined
    // The first line of a deal's history is its creation, which has an entry of its own.
    return ({ workspace_id, owner_id }) => sql`
      SELECT s.changed_at AS at, s.id FROM deals CROSS JOIN deal_stages AS s
      WHERE s.workspace_id = deals.workspace_id AND s.deal_id = deals.id AND deals.workspace_id = ${workspace_id}
        AND deals.${sql.ref(link)} = ${owner_id} AND deals.deleted_at IS NULL AND s.from_stage IS NOT NULL`
  },

  load,
}

type StageChange = Pick<Selectable<DealStagesTable>, 'id' | 'deal_id' | 'changed_by'> &
  Record<'deal_name' | 'from' | 'to', string>

async function load(db: Db, workspace_id: number, ids: number[]): Promise<Map<number, object>> {
  const { rows } = await sql<StageChange>`
    SELECT s.id, s.deal_id, d.name AS deal_name, s.from_stage AS "from", s.to_stage AS "to", s.changed_by
    FROM ${chosenIds(db, ids)} CROSS JOIN deal_stages AS s CROSS JOIN deals AS d
    WHERE s.workspace_id = ${workspace_id} AND s.id = chosen.value
      AND d.workspace_id = s.workspace_id AND d.id = s.deal_id AND d.deleted_at IS NULL`.execute(db)
  const actors = rows.map(({ changed_by }) => actorOf(changed_by))
  const named = await namedActors(db, workspace_id, actors)
  return new Map(rows.map(({ id, changed_by: _, ...shown }, index) => [id, { ...shown, by: named[index] }]))
}
