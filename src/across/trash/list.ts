import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { type Deletable, deletable, going } from '../../db/records.ts'

export type Trashed = {
  kind: Deletable
  id: number
  name: string
  contact_id: number | null
  deleted_at: string
}

/** Where a record stands in the trash: latest deletion first, then by kind, then by the highest id. */
export type Place = Pick<Trashed, 'deleted_at' | 'kind' | 'id'>

const names: Record<Deletable, RawBuilder<string>> = {
  companies: sql`t.name`,
  contacts: sql`t.first_name || ' ' || t.last_name`,
  notes: sql`substr(t.body, 1, 80)`,
  deals: sql`t.name`,
  activities: sql`t.subject`,
  booking_pages: sql`t.title`,
  appointments: sql`t.title`,
}

// Notes of a contact in the trash go and come back with it.
const tables: Record<Deletable, RawBuilder<unknown>> = {
  ...(Object.fromEntries(deletable.map((kind) => [kind, sql`${sql.table(kind)} AS t`])) as Record<
    Deletable,
    RawBuilder<unknown>
  >),
  notes: sql`notes AS t JOIN contacts AS c
    ON c.workspace_id = t.workspace_id AND c.id = t.contact_id AND c.deleted_at IS NULL`,
}

const inTrash = (workspace_id: number) =>
  sql<SqlBool>`t.workspace_id = ${workspace_id} AND t.deleted_at > ${going.erasing}`

// One kind's part of what comes after a place, as a range of its index.
function beyond(kind: Deletable, after: Place): RawBuilder<SqlBool> {
  if (kind < after.kind) return sql`t.deleted_at < ${after.deleted_at}`
  if (kind > after.kind) return sql`t.deleted_at <= ${after.deleted_at}`
  return sql`(t.deleted_at, t.id) < (${after.deleted_at}, ${after.id})`
}

/** Records in the trash, latest deletion first: so many from an offset, or from after a place. */
export async function listTrash(
  db: Db,
  workspace_id: number,
  kinds: readonly Deletable[],
  { limit, offset = 0, after = null }: { limit: number; offset?: number; after?: Place | null },
): Promise<Trashed[]> {
  if (!kinds.length) return []
  const parts = kinds.map((kind) => {
    const contact_id = kind === 'notes' ? sql`t.contact_id` : sql`CAST(NULL AS bigint)`
    const columns = sql`${sql.lit(kind)} AS kind, t.id, ${names[kind]} AS name, ${contact_id} AS contact_id, t.deleted_at`
    const where = after ? sql`${inTrash(workspace_id)} AND ${beyond(kind, after)}` : inTrash(workspace_id)
    // Each part is cut by its own index before all are sorted together.
    return sql`SELECT * FROM (
      SELECT ${columns} FROM ${tables[kind]} WHERE ${where}
      ORDER BY t.deleted_at DESC, t.id DESC LIMIT ${limit + offset}) AS ${sql.ref(`part_${kind}`)}`
  })
  const { rows } = await sql<Trashed>`
    ${sql.join(parts, sql` UNION ALL `)} ORDER BY deleted_at DESC, kind, id DESC LIMIT ${limit} OFFSET ${offset}`.execute(
    db,
  )
  return rows
}

/** How many records of these kinds are in the trash. */
export async function countTrash(db: Db, workspace_id: number, kinds: readonly Deletable[]): Promise<number> {
  if (!kinds.length) return 0
  const counts = kinds.map(
    (kind) => sql`(SELECT count(*) FROM ${tables[kind]} WHERE ${inTrash(workspace_id)})`,
  )
  const { rows } = await sql<{ n: number }>`SELECT ${sql.join(counts, sql` + `)} AS n`.execute(db)
  return Number(rows[0]?.n)
}
