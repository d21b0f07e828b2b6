import type { Db } from '../../db/db.ts'
import { countRows } from '../../db/lists/counts.ts'
import { prepare } from '../../db/statements/prepare.ts'

const lines = prepare((p: { workspace_id: number; deal_id: number; after: number; limit: number }, db) =>
  db
    .selectFrom('deal_stages')
    .select(['id', 'from_stage', 'to_stage', 'changed_at', 'changed_by'])
    .where((eb) => eb.and({ workspace_id: p.workspace_id, deal_id: p.deal_id }))
    .where('id', '>', p.after)
    .orderBy('id')
    .limit(p.limit),
)

export type StageChange = Awaited<ReturnType<typeof lines>>[number]

/** Up to `limit` stage changes of a deal with an id above `after`, oldest first. */
export const listStages = (
  db: Db,
  workspace_id: number,
  deal_id: number,
  { after, limit }: { after: number; limit: number },
) => lines(db, { workspace_id, deal_id, after, limit })

/** The number of stage changes of a deal. */
export const countStages = (db: Db, workspace_id: number, deal_id: number): Promise<number> =>
  countRows(db.selectFrom('deal_stages').where((eb) => eb.and({ workspace_id, deal_id })))
