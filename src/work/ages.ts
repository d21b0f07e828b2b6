import { sql } from 'kysely'
import type { Db } from '../db/db.ts'
import { work_kinds } from '../db/work-table.ts'

type Oldest = { kind: string; since: string | null }

/** The age of the oldest unfinished work of each kind in seconds, for /metrics; 0 without any. */
export async function oldestWork(db: Db, now_ms: number): Promise<Record<string, number>> {
  // An import keeps its claim in its own row.
  const { rows } = await sql<Oldest>`
    SELECT kind, min(created_at) AS since FROM work WHERE lease_ends_ms IS NOT NULL GROUP BY kind
    UNION ALL SELECT 'import', min(created_at) FROM imports WHERE status IN ('queued', 'running')`.execute(db)
  const since = new Map(rows.map((row) => [row.kind, row.since ? Date.parse(row.since) : now_ms]))
  const age = (kind: string) => Math.max(0, now_ms - (since.get(kind) ?? now_ms)) / 1000
  return Object.fromEntries([...work_kinds, 'import'].map((kind) => [kind, age(kind)]))
}
