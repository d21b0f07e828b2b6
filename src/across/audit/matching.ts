import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { choice } from '../../db/lists/filters.ts'
import { type Range, slicesOf } from '../../db/lists/slices.ts'
import { engineOf } from '../../db/tx.ts'
import type { Wanted } from '../../http/filter-values.ts'

export type AuditFilters = {
  /** The kinds of the entries; null for all kinds. */
  kinds: readonly string[] | null
  record_id?: Wanted<string> | undefined
  action?: Wanted<string> | undefined
  actor_id?: Wanted<string> | undefined
  from?: string | undefined
  to?: string | undefined
}

/** A position in the log: the time and the id of an entry. */
export type AuditPosition = readonly [string, number]

export type AuditPage = { limit: number; offset?: number; after?: AuditPosition | null }

type Condition = RawBuilder<SqlBool>

// SQLite counts or skips this many entries of an index in about 2 ms.
const counted_at_once = 20_000
// SQLite reads this many entries from the table in about 2 ms, to check them one by one. A busy machine takes four times as long.
const looked_at_once = 2000
// On PostgreSQL a statement does not block other requests, and each one is a round trip.
const at_once_on_postgres = 200_000

function sizeFor(db: Db, is_looked_at: boolean): number {
  if (engineOf(db) === 'postgres') return at_once_on_postgres
  return is_looked_at ? looked_at_once : counted_at_once
}

// The columns before the time in the indexes of the log. The first index that fits the filters is read.
const leads = [['kind', 'record_id'], ['actor_id'], ['action'], ['kind'], []] as const

const both = (conditions: Condition[]): Condition => sql`${sql.join([sql`TRUE`, ...conditions], sql` AND `)}`
const union = (queries: RawBuilder<unknown>[]) => sql.join(queries, sql` UNION ALL `)

function oneOf(texts: Wanted<string> | undefined): string | undefined {
  if (!texts || texts.or_none || texts.some || texts.not.length) return undefined
  return texts.any.length === 1 ? texts.any[0] : undefined
}

// Entries of the service have no actor id.
const among = (column: string, texts: Wanted<string>): Condition =>
  choice(sql.ref(column), { ...texts, missing: sql<SqlBool>`coalesce(${sql.ref(column)}, NULL) IS NULL` })
    .plain

/** The range of an index, newest first, and the conditions that its entries must still meet. */
function wayOf(workspace_id: number, filters: AuditFilters, after: AuditPosition | null = null) {
  const { kinds, record_id, action, actor_id, from, to } = filters
  const kind = kinds?.length === 1 ? kinds[0] : undefined
  const equal = { kind, record_id: oneOf(record_id), action: oneOf(action), actor_id: oneOf(actor_id) }
  const lead: readonly string[] =
    leads.find((names) => names.every((name) => equal[name] !== undefined)) ?? []
  const along = [sql<SqlBool>`workspace_id = ${workspace_id}`]
  // SQLite uses no other index for an expression.
  const rest: Condition[] = []
  for (const [name, value] of Object.entries(equal))
    if (value === undefined) continue
    else if (lead.includes(name)) along.push(sql`${sql.ref(name)} = ${value}`)
    else rest.push(sql`coalesce(${sql.ref(name)}, NULL) = ${value}`)
  if (kinds && kind === undefined) rest.push(sql`coalesce(kind, NULL) IN (${sql.join(kinds)})`)
  for (const [name, texts] of Object.entries({ record_id, action, actor_id }))
    if (texts && oneOf(texts) === undefined) rest.push(among(name, texts))
  const until = to === undefined ? undefined : sql<SqlBool>`occurred_at <= ${to}`
  const range: Range = {
    table: 'audit_log',
    along: both(along),
    order: ['occurred_at', 'id'],
    descending: true,
    first: after && !(to && to < after[0]) ? sql`(occurred_at, id) < (${after[0]}, ${after[1]})` : until,
    last: from === undefined ? undefined : sql`occurred_at >= ${from}`,
  }
  return { range, rest }
}

/** Splits filters into parts that one index serves each: several kinds without other filters, by kind. */
function partsOf(filters: AuditFilters): AuditFilters[] {
  const { kinds, action, actor_id } = filters
  if (!kinds || kinds.length === 1 || (action ?? actor_id) !== undefined) return [filters]
  return kinds.map((kind) => ({ ...filters, kinds: [kind] }))
}

async function countOf(db: Db, entries: RawBuilder<unknown>): Promise<number> {
  const { rows } = await sql<{ n: number }>`SELECT count(*) AS n FROM (${entries}) AS entries`.execute(db)
  return Number(rows[0]?.n)
}

async function idsOf(db: Db, entries: RawBuilder<unknown>, limit: number, offset: number): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`SELECT id FROM (${entries}) AS entries
    ORDER BY occurred_at DESC, id DESC LIMIT ${limit} OFFSET ${offset}`.execute(db)
  return rows.map(({ id }) => id)
}

const entriesOf = (where: Condition) => sql`SELECT id, occurred_at FROM audit_log WHERE ${where}`

/** The number of matching entries, counted slice by slice of an index. */
export async function countEntries(db: Db, workspace_id: number, filters: AuditFilters): Promise<number> {
  if (filters.kinds?.length === 0) return 0
  let total = 0
  for (const part of partsOf(filters)) {
    const { range, rest } = wayOf(workspace_id, part)
    const size = sizeFor(db, rest.length > 0)
    for await (const { where, is_full } of slicesOf(db, range, size))
      total += is_full && !rest.length ? size : await countOf(db, entriesOf(both([where, ...rest])))
  }
  return total
}

/** The ids of a page, newest first. */
export async function newestIds(
  db: Db,
  workspace_id: number,
  filters: AuditFilters,
  window: AuditPage,
): Promise<number[]> {
  if (filters.kinds?.length === 0) return []
  const parts = partsOf(filters)
  const ways = parts.map((part) => wayOf(workspace_id, part, window.after))
  const { limit, offset = 0 } = window
  const is_near = (offset + limit) * ways.length <= counted_at_once
  if (!is_near || ways.some(({ rest }) => rest.length)) return idsInSlices(db, workspace_id, filters, window)
  // Limit each kind by its own index before sorting all together. Otherwise, a rare kind scans the log.
  const newest = ways.map(({ range: { along, first, last } }, n) => {
    const where = both([along, ...[first, last].filter((bound) => bound !== undefined)])
    const part = sql`${entriesOf(where)} ORDER BY occurred_at DESC, id DESC LIMIT ${offset + limit}`
    return sql`SELECT id, occurred_at FROM (${part}) AS ${sql.ref(`part_${n}`)}`
  })
  return idsOf(db, union(newest), limit, offset)
}

async function idsInSlices(
  db: Db,
  workspace_id: number,
  filters: AuditFilters,
  { limit, offset = 0, after }: AuditPage,
): Promise<number[]> {
  const { range, rest } = wayOf(workspace_id, filters, after)
  const parts = partsOf(filters)
  const by_kind = parts.length > 1
  // Within a slice of time, read each kind by its own index.
  const choices = by_kind ? parts.map(({ kinds }) => sql<SqlBool>`kind = ${kinds?.[0]}`) : [both(rest)]
  const size = sizeFor(db, rest.length > 0 && !by_kind)
  const ids: number[] = []
  let to_skip = offset
  for await (const { where, is_full } of slicesOf(db, range, size)) {
    const entries = union(choices.map((choice) => entriesOf(both([where, choice]))))
    if (to_skip) {
      const n = is_full && !rest.length ? size : await countOf(db, entries)
      const skipped = Math.min(to_skip, n)
      to_skip -= skipped
      if (skipped === n) continue
      ids.push(...(await idsOf(db, entries, limit, skipped)))
    } else ids.push(...(await idsOf(db, entries, limit - ids.length, 0)))
    if (ids.length === limit) break
  }
  return ids
}
