import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { bytesOf, listed_bytes } from '../../db/sizes.ts'
import { prepare } from '../../db/statements/prepare.ts'
import { engineOf } from '../../db/tx.ts'
import { idListsOf, linkTo, longestText } from '../../resources/derived.ts'
import type { IdRows, Resource } from '../../resources/resource.ts'
import type { OtherEntries, Room } from '../../resources/room.ts'
import { changes } from './changes.ts'

/** The position of an entry among those of its type, and the bytes of its long texts. */
export type Mark = { at: string; id: number; bytes?: number }

type Owned = { workspace_id: number; owner_id: number }
type MarkQuery = Owned & { record_id: string; at: string; below: number; limit: number }

/** The rows of an owner's entries, with `at` and `id`. */
type Rows = (p: Owned, db: Db) => RawBuilder<unknown>

/** A type of entries in the timeline of an owner. */
export type Source = {
  type: string
  /** Of several entries of one time, those of a higher rank come first. */
  rank: number
  /** The first part of the scope that reads them. */
  scope: string
  marks(db: Db, query: MarkQuery): Promise<Mark[]>
  /** The data of these entries as JSON texts, by their ids. Soft-deleted ones may be missing. */
  load(db: Db, workspace_id: number, ids: number[]): Promise<Map<number, string>>
}

/** The part of a room that timelines use. */
export type TimelineRoom = Pick<Room, 'resource' | 'listedById' | 'entries'>

/** The sources of a timeline of one resource's records, by rank. */
export function sourcesOf(owner: Resource, rooms: readonly TimelineRoom[]): Source[] {
  const resources = rooms.map(({ resource }) => resource)
  const sources: Source[] = [
    { ...change, scope: owner.scope, marks: marksOfChanges(owner), load: asTexts(change.load) },
  ]
  for (const { resource, listedById, entries } of rooms) {
    const { timeline, scope } = resource
    const own = timeline && rowsOf(resource, owner, resources)
    if (timeline && own) sources.push({ ...timeline, scope, marks: newest(own), load: listedById })
    const other = entries?.rowsOf(owner)
    if (entries && other) {
      const { type, rank, load } = entries
      sources.push({ type, rank, scope, marks: newest(other), load: asTexts(load) })
    }
  }
  return sources.sort((a, b) => a.rank - b.rank)
}

/** The changes of the owner itself, from the audit log. */
export const change = {
  type: 'change',
  rank: 0,
  about: 'action, actor, before, after, request_id, as in the audit log.',
  load: changes,
}

const asTexts =
  (load: OtherEntries['load']): Source['load'] =>
  async (db, workspace_id, ids) => {
    const found = await load(db, workspace_id, ids)
    return new Map([...found].map(([id, data]) => [id, JSON.stringify(data)]))
  }

/**
 * The newest of an owner's rows after a position. MATERIALIZED makes the planner find the rows of the owner first and then
 * sort them. Otherwise it may scan the whole workspace by time, to find rows of this owner.
 */
const newest = (rows: Rows) =>
  prepare(
    (p: MarkQuery, db) => sql<Mark>`WITH own AS MATERIALIZED (${rows(p, db)})
        SELECT * FROM own WHERE (at, id) < (${p.at}, ${p.below})
        ORDER BY at DESC, id DESC LIMIT ${p.limit}`,
  )

// Records that refer to the owner, or that refer to such records: for example the notes of a company's contacts.
function rowsOf(resource: Resource, owner: Resource, resources: readonly Resource[]): Rows | undefined {
  const link = linkTo(resource, owner.table)
  const [list] = idListsOf([resource], owner.table)
  if (link && list) return rowsByLinkOrList(resource, link, list.ids)
  if (link) return rowsByLink(resource, link)
  for (const between of resources) {
    const [to_between, to_owner] = [linkTo(resource, between.table), linkTo(between, owner.table)]
    if (to_between && to_owner) return rowsBetween(resource, to_between, between, to_owner)
  }
  return undefined
}

function rowsByLink(resource: Resource, link: string): Rows {
  return ({ workspace_id, owner_id }) => sql`
    SELECT created_at AS at, id${bytesOfLong(resource)} FROM ${sql.table(resource.table)} AS t
    WHERE workspace_id = ${workspace_id} AND ${sql.ref(link)} = ${owner_id} AND deleted_at IS NULL`
}

// A record that names the owner twice is one row.
function rowsByLinkOrList(resource: Resource, link: string, { table, by, id }: IdRows): Rows {
  const own = rowsByLink(resource, link)
  const of_list = rowsThrough(resource, table, sql`t.id = ${sql.ref(`b.${by}`)}`, id)
  return (p, db) => sql`${own(p, db)} UNION ${of_list(p, db)}`
}

const rowsBetween = (resource: Resource, link: string, { table }: Resource, to_owner: string): Rows =>
  rowsThrough(resource, table, sql`${sql.ref(`t.${link}`)} = b.id`, to_owner, sql`AND b.deleted_at IS NULL`)

// SQLite joins the tables of a CROSS JOIN in their order. Without statistics, it would choose the wrong order.
function rowsThrough(
  resource: Resource,
  through: string,
  on: RawBuilder<unknown>,
  to_owner: string,
  live = sql``,
): Rows {
  const [table, more] = [sql.table(resource.table), bytesOfLong(resource)]
  const of_row = sql`t.workspace_id = b.workspace_id AND ${on} AND t.deleted_at IS NULL`
  return ({ workspace_id, owner_id }, db) => {
    const of_owner = sql`b.workspace_id = ${workspace_id} AND ${sql.ref(`b.${to_owner}`)} = ${owner_id} ${live}`
    const entries = sql`${sql.table(through)} AS b CROSS JOIN`
    // OFFSET 0 is a fence: without statistics, PostgreSQL would scan the whole workspace once for each record.
    return engineOf(db) === 'postgres'
      ? sql`SELECT t.* FROM ${entries} LATERAL (
          SELECT created_at AS at, id${more} FROM ${table} AS t WHERE ${of_row} OFFSET 0) AS t WHERE ${of_owner}`
      : sql`SELECT t.created_at AS at, t.id${more} FROM ${entries} ${table} AS t WHERE ${of_row} AND ${of_owner}`
  }
}

// The bytes of the long texts that a list shows in full.
function bytesOfLong({ columns }: Resource): RawBuilder<unknown> {
  const long = Object.keys(columns).filter((name) => {
    const column = columns[name]
    return column && column.listed === undefined && (longestText(column) ?? 0) > listed_bytes
  })
  if (!long.length) return sql``
  const bytes = long.map((name) => bytesOf(`t.${name}`))
  return sql`, ${sql.join(bytes, sql` + `)} AS bytes`
}

// The index by kind and record also orders by time.
const marksOfChanges = ({ table }: Resource) =>
  prepare((p: MarkQuery, db) =>
    db
      .selectFrom('audit_log')
      .select(['occurred_at as at', 'id'])
      .where('workspace_id', '=', p.workspace_id)
      .where('kind', '=', sql.lit(table))
      .where('record_id', '=', p.record_id)
      .where(sql<boolean>`(occurred_at, id) < (${p.at}, ${p.below})`)
      .orderBy('occurred_at', 'desc')
      .orderBy('id', 'desc')
      .limit(p.limit),
  )
