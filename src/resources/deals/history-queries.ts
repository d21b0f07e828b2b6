import type { Db } from '../../db/db.ts'
import { prepare } from '../../db/statements/prepare.ts'

const lines = prepare((db, p: { workspace_id: number; deal_id: number; after: number; limit: number }) =>
  db
    .selectFrom('deal_stages')
    .select(['id', 'from_stage', 'to_stage', 'changed_at', 'changed_by'])
    .where('workspace_id', '=', p.workspace_id)
    .where('deal_id', '=', p.deal_id)
    .where('id', '>', p.after)
    .orderBy('id')
    .limit(p.limit),
)

/** Up to `limit` lines of a deal's history of stages after one (0: the first), oldest first. */
export const listStages = (
  db: Db,
  workspace_id: number,
  deal_id: number,
  { after, limit }: { after: number; limit: number },
) => lines(db, { workspace_id, deal_id, after, limit })

const counted = prepare((db, p: { workspace_id: number; deal_id: number }) =>
  db
    .selectFrom('deal_stages')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('workspace_id', '=', p.workspace_id)
    .where('deal_id', '=', p.deal_id),
)

/** How many lines a deal's history has. */
export const countStages = async (db: Db, workspace_id: number, deal_id: number): Promise<number> =>
  (await counted(db, { workspace_id, deal_id }))[0]?.n ?? 0
