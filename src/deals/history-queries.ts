import type { Db } from '../db/db.ts'
import { prepare } from '../db/prepare.ts'

const lines = prepare((db, p: { workspace_id: number; deal_id: number }) =>
  db
    .selectFrom('deal_stages')
    .select(['from_stage', 'to_stage', 'changed_at', 'changed_by'])
    .where('workspace_id', '=', p.workspace_id)
    .where('deal_id', '=', p.deal_id)
    .orderBy('id'),
)

/** The lines of a deal's history of stages, oldest first. */
export const listStages = (db: Db, workspace_id: number, deal_id: number) =>
  lines(db, { workspace_id, deal_id })
