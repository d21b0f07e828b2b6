import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../db/db.ts'
import type { Resource } from '../resources/resource.ts'

/** A record of any kind, by the name of its table. */
type Named = { kind: string; id: string }

/**
 * Reads the present titles of records, in one statement for each kind. The function that it returns has null for a record that is not
 * there or in the trash, and for a kind without titles. The caller has checked that these kinds may be read.
 */
export async function titlesOf(
  db: Db,
  workspace_id: number,
  resources: readonly Resource[],
  records: readonly Named[],
): Promise<(kind: string, id: string) => string | null> {
  const titles = new Map<string, string | null>()
  for (const [kind, of_kind] of Map.groupBy(records, ({ kind }) => kind)) {
    const ids = [...new Set(of_kind.map(({ id }) => id))]
    for (const { id, title } of await readTitles(db, workspace_id, resources, kind, ids))
      titles.set(`${kind} ${id}`, title)
  }
  return (kind, id) => titles.get(`${kind} ${id}`) ?? null
}

/** The title columns of kinds that are not resources. */
const others: Partial<Record<string, RawBuilder<string>>> = {
  webhooks: sql`coalesce(name, url)`,
  imports: sql`nullif(file_name, '')`,
  api_keys: sql`name`,
  mails: sql`nullif(subject, '')`,
}

type Title = { id: number | string; title: string | null }

async function readTitles(
  db: Db,
  workspace_id: number,
  resources: readonly Resource[],
  kind: string,
  ids: readonly string[],
): Promise<Title[]> {
  const resource = resources.find(({ table }) => table === kind)
  if (resource) {
    const { fields, characters } = resource.title
    const name = sql.join(
      fields.map((field) => sql.ref(field)),
      sql` || ' ' || `,
    )
    const title = characters ? sql`substr(${name}, 1, ${sql.lit(characters)})` : name
    const { rows } = await sql<Title>`SELECT id, ${title} AS title FROM ${sql.table(kind)}
      WHERE workspace_id = ${workspace_id} AND deleted_at IS NULL AND id IN (${sql.join(ids.map(Number))})`.execute(
      db,
    )
    return rows
  }
  const title = others[kind]
  if (!title) return []
  const { rows } = await sql<Title>`SELECT id, ${title} AS title FROM ${sql.table(kind)}
    WHERE workspace_id = ${workspace_id} AND id IN (${sql.join(ids)})`.execute(db)
  return rows
}
