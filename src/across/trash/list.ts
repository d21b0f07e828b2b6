import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { pending_removal } from '../../db/records.ts'
import type { Resource } from '../../resources/resource.ts'

export type Trashed = {
  kind: string
  id: number
  name: string
  /** The record of a note; null for all other kinds. */
  part_of_id: number | null
  deleted_at: string
}

/** The position of a record in the trash: latest deletion first, then by kind, then by the highest id. */
export type TrashPosition = Pick<Trashed, 'deleted_at' | 'kind' | 'id'>

// The name that people see.
function nameOf({ title: { fields, characters } }: Resource): RawBuilder<string> {
  const name = sql<string>`${sql.join(
    fields.map((field) => sql.ref(`t.${field}`)),
    sql` || ' ' || `,
  )}`
  return characters ? sql`substr(${name}, 1, ${sql.lit(characters)})` : name
}

// A part of a soft-deleted record is restored with that record, so it is not listed.
function tableOf({ table, part_of }: Resource): RawBuilder<unknown> {
  if (!part_of) return sql`${sql.table(table)} AS t`
  return sql`${sql.table(table)} AS t JOIN ${sql.table(part_of.table)} AS owner
    ON owner.workspace_id = t.workspace_id AND owner.id = ${sql.ref(`t.${part_of.by}`)} AND owner.deleted_at IS NULL`
}

const inTrash = (workspace_id: number) =>
  sql<SqlBool>`t.workspace_id = ${workspace_id} AND t.deleted_at > ${pending_removal.erasing}`

// The records of one kind after a position, as a range of the kind's index.
function beyond(kind: string, after: TrashPosition): RawBuilder<SqlBool> {
  if (kind < after.kind) return sql`t.deleted_at < ${after.deleted_at}`
  if (kind > after.kind) return sql`t.deleted_at <= ${after.deleted_at}`
  return sql`(t.deleted_at, t.id) < (${after.deleted_at}, ${after.id})`
}

/** Up to `limit` records in the trash, latest deletion first, from an offset or after a position. */
export async function listTrash(
  db: Db,
  workspace_id: number,
  resources: readonly Resource[],
  { limit, offset = 0, after = null }: { limit: number; offset?: number; after?: TrashPosition | null },
): Promise<Trashed[]> {
  if (!resources.length) return []
  const parts = resources.map((resource) => {
    const { table: kind, part_of } = resource
    const owner = part_of ? sql.ref(`t.${part_of.by}`) : sql`CAST(NULL AS bigint)`
    const columns = sql`${sql.lit(kind)} AS kind, t.id, ${nameOf(resource)} AS name, ${owner} AS part_of_id, t.deleted_at`
    const where = after ? sql`${inTrash(workspace_id)} AND ${beyond(kind, after)}` : inTrash(workspace_id)
    // Limit each part by its own index before all parts are sorted together.
    return sql`SELECT * FROM (
      SELECT ${columns} FROM ${tableOf(resource)} WHERE ${where}
      ORDER BY t.deleted_at DESC, t.id DESC LIMIT ${limit + offset}) AS ${sql.ref(`part_${kind}`)}`
  })
  const { rows } = await sql<Trashed>`
    ${sql.join(parts, sql` UNION ALL `)} ORDER BY deleted_at DESC, kind, id DESC LIMIT ${limit} OFFSET ${offset}`.execute(
    db,
  )
  return rows
}

/** The number of records of these resources in the trash. */
export async function countTrash(
  db: Db,
  workspace_id: number,
  resources: readonly Resource[],
): Promise<number> {
  if (!resources.length) return 0
  const counts = resources.map(
    (resource) => sql`(SELECT count(*) FROM ${tableOf(resource)} WHERE ${inTrash(workspace_id)})`,
  )
  const { rows } = await sql<{ n: number }>`SELECT ${sql.join(counts, sql` + `)} AS n`.execute(db)
  return Number(rows[0]?.n)
}
