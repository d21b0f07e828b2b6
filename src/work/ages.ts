import type { Db } from '../db/db.ts'
import { type WorkKind, work_kinds } from '../db/work.ts'

/** The age of the oldest unfinished work of each kind in seconds, for /metrics; 0 without any. */
export async function oldestWork(db: Db, now_ms: number): Promise<Record<WorkKind, number>> {
  const rows = await db
    .selectFrom('work')
    .select(['kind', (eb) => eb.fn.min('created_at').as('since')])
    .where('lease_ends_ms', 'is not', null)
    .groupBy('kind')
    .execute()
  const since = new Map(rows.map((row) => [row.kind, Date.parse(row.since)]))
  const age = (kind: WorkKind) => Math.max(0, now_ms - (since.get(kind) ?? now_ms)) / 1000
  return Object.fromEntries(work_kinds.map((kind) => [kind, age(kind)])) as Record<WorkKind, number>
}
