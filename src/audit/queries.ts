import { type Selectable, sql } from 'kysely'
import type { Db } from '../db/db.ts'
import type { AuditLogTable } from '../db/tables.ts'
import { namedActors } from '../events/actors.ts'
import type { AuditEntry } from './schema.ts'

type AuditFilters = {
  kind?: string | undefined
  record_id?: string | undefined
  action?: string | undefined
  actor_id?: string | undefined
  from?: string | undefined
  to?: string | undefined
}

/** A place in the log: the time and the id of an entry. */
export type Place = readonly [string, number]

type Window = { limit: number; offset?: number; after?: Place | null }

function matching(db: Db, workspace_id: number, { from, to, ...equal }: AuditFilters, common_kind = false) {
  let query = db.selectFrom('audit_log').where('workspace_id', '=', workspace_id)
  for (const [name, value] of Object.entries(equal)) {
    if (value === undefined) continue
    const plain = common_kind && name === 'kind'
    const column = plain ? sql<string>`coalesce(kind, null)` : sql.ref<string>(name)
    query = query.where(column, '=', value)
  }
  if (from !== undefined) query = query.where('occurred_at', '>=', from)
  if (to !== undefined) query = query.where('occurred_at', '<=', to)
  return query
}

// Up to so many entries of a kind are read by the index of its records, and sorted.
const few = 2000

/** Whether a kind alone is better found in the order of the list than by its records. */
async function isCommon(db: Db, workspace_id: number, { kind, record_id }: AuditFilters): Promise<boolean> {
  if (kind === undefined || record_id !== undefined) return false
  const some = matching(db, workspace_id, { kind })
    .select('id')
    .limit(few + 1)
  const { n } = await db
    .selectFrom(some.as('some'))
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  return n > few
}

/** How many entries match; counted, by an index. */
export async function countEntries(db: Db, workspace_id: number, filters: AuditFilters): Promise<number> {
  const { n } = await matching(db, workspace_id, filters)
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  return n
}

/** Entries that match, newest first, with the names of who made them. */
export async function listEntries(
  db: Db,
  workspace_id: number,
  filters: AuditFilters,
  { limit, offset = 0, after }: Window,
): Promise<AuditEntry[]> {
  let query = matching(db, workspace_id, filters, await isCommon(db, workspace_id, filters))
  if (after) query = query.where(sql<boolean>`(occurred_at, id) < (${after[0]}, ${after[1]})`)
  const rows = await query
    .selectAll()
    .orderBy('occurred_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .offset(offset)
    .execute()
  const actors = rows.map(({ actor_kind: kind, actor_id: id }) => ({ kind, id }))
  const named = await namedActors(db, workspace_id, actors)
  return rows.flatMap((row, index) => {
    const actor = named[index]
    return actor ? [entryOf(row, actor)] : []
  })
}

const sideOf = (text: string | null) => text && JSON.parse(text)

function entryOf(row: Selectable<AuditLogTable>, actor: AuditEntry['actor']): AuditEntry {
  const { id, occurred_at, action, kind, record_id, request_id } = row
  return {
    ...{ id, occurred_at, actor, action, kind },
    record_id: /^\d+$/.test(record_id) ? Number(record_id) : record_id,
    before: sideOf(row.before),
    after: sideOf(row.after),
    request_id,
  }
}
