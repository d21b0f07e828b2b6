import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { engineOf } from '../../db/statements/prepare.ts'
import { createResourceOfEvent, referrersOf } from '../../resources/derived.ts'
import type { Resource } from '../../resources/resource.ts'
import { embeddingsOf, linkedResources, persons_table } from './redaction.ts'
import { bytesOf, createPace, piecesOf } from './slices.ts'

/** By kind, the ids of records that refer to a contact, or did once; true for those that a visitor booked. */
export type Linked = ReadonlyMap<string, Map<number, boolean>>
export const noneLinked: Linked = new Map()

// The sizes of so many are read in about a millisecond.
const slice = 1000
const batch = 200

/**
 * Finds what refers to a contact in the trash, and what did before somebody made it refer to another one, or to none: the
 * audit log knows it and, of the time before there was one, the events. Nothing can come to refer to it any more.
 */
export async function findLinked(
  db: Db,
  resources: readonly Resource[],
  workspace_id: number,
  contact_id: number,
  stopping?: AbortSignal,
): Promise<Linked> {
  const linked: Linked = new Map(linkedResources(resources).map(({ table }) => [table, new Map()]))
  // The rows first: what is made to refer to something else meanwhile is among them, or in an entry.
  for (const { resource, field } of referrersOf(resources, persons_table)) {
    const { rows } = await sql<{ id: number }>`
      SELECT id FROM ${sql.table(resource.table)}
      WHERE workspace_id = ${workspace_id} AND ${sql.ref(field)} = ${contact_id}`.execute(db)
    for (const { id } of rows) linked.get(resource.table)?.set(id, false)
  }
  const { references, embeddings } = mentionsOf(resources, contact_id)
  const resourceOf = createResourceOfEvent(resources)
  const seen = { workspace_id, stopping }
  for await (const { kind, record_id } of entriesNaming(db, seen, [...linked.keys()], references))
    linked.get(kind)?.set(Number(record_id), false)
  for await (const { event, record_id } of eventsNaming(db, seen, [...references, ...embeddings]))
    if (record_id !== null) linked.get(resourceOf(event)?.table ?? '')?.set(record_id, false)
  await markVisitors(db, resources, workspace_id, linked)
  return linked
}

/** How JSON refers to a contact. In a text of its own, the quotation marks would be escaped. */
export function mentionsOf(resources: readonly Resource[], contact_id: number) {
  const fields = new Set(referrersOf(resources, persons_table).map(({ field }) => field))
  const embedded = new Set(linkedResources(resources).flatMap(embeddingsOf))
  return {
    references: [...fields].flatMap((field) => [`"${field}":${contact_id},`, `"${field}":${contact_id}}`]),
    embeddings: [...embedded].map((field) => `"${field}":{"id":${contact_id},`),
  }
}

type Seen = { workspace_id: number; stopping: AbortSignal | undefined }

const entriesNaming = (db: Db, seen: Seen, kinds: readonly string[], texts: readonly string[]) =>
  slices<{ kind: string; record_id: string }>(
    db,
    { ...seen, table: 'audit_log', number: 'id', texts: ['before', 'after'] },
    sql`SELECT kind, record_id`,
    sql`kind IN (${sql.join(kinds)}) AND (${has(db, 'before', texts)} OR ${has(db, 'after', texts)})`,
  )

const eventsNaming = (db: Db, seen: Seen, texts: readonly string[]) =>
  slices<{ event: string; record_id: number | null }>(
    db,
    { ...seen, table: 'events', number: 'seq', texts: ['payload'] },
    sql`SELECT event, record_id`,
    has(db, 'payload', texts),
  )

/** A condition: a column has one of the texts. LIKE would take three times as long. */
function has(db: Db, column: string, texts: readonly string[]) {
  const place = sql.raw(engineOf(db) === 'sqlite' ? 'instr' : 'strpos')
  return sql.join(
    texts.map((text) => sql`${place}(${sql.ref(column)}, ${text}) > 0`),
    sql` OR `,
  )
}

type Numbered = {
  workspace_id: number
  table: 'audit_log' | 'events'
  number: 'id' | 'seq'
  texts: string[]
  stopping: AbortSignal | undefined
}

/**
 * What of a workspace's rows meets a condition. No index tells it, so all are looked at, a slice after the other, so that
 * nothing is held up: as many at once as their texts are long.
 */
async function* slices<T>(
  db: Db,
  { workspace_id, table, number, texts, stopping }: Numbered,
  select: ReturnType<typeof sql>,
  condition: ReturnType<typeof sql>,
): AsyncGenerator<T> {
  // SQLite would take an index of the workspace for the one of the number.
  const owner = engineOf(db) === 'sqlite' ? sql`+workspace_id` : sql`workspace_id`
  const from = sql`FROM ${sql.table(table)} WHERE ${owner} = ${workspace_id}`
  const within = (after: number, last: number) =>
    sql`${from} AND ${sql.ref(number)} > ${after} AND ${sql.ref(number)} <= ${last}`
  // SQLite numbers the rows of all workspaces in one sequence, and reads its end at once. It would search for the last
  // number of one workspace row by row.
  const numbered = engineOf(db) === 'sqlite' ? sql`FROM ${sql.table(table)}` : from
  const { rows } = await sql<{ last: number | null }>`
    SELECT max(${sql.ref(number)}) AS last ${numbered}`.execute(db)
  const pace = createPace()
  for (let after = 0, last = rows[0]?.last ?? 0; after < last; after += slice) {
    stopping?.throwIfAborted()
    const sizes = await sql<{ number: number; bytes: number }>`
      SELECT ${sql.ref(number)} AS number, ${bytesOf(...texts)} AS bytes
      ${within(after, after + slice)} ORDER BY 1`.execute(db)
    let below = after
    for (const piece of piecesOf(sizes.rows)) {
      const end = piece.at(-1)?.number ?? below
      const found = await sql<T>`${select} ${within(below, end)} AND (${condition})`.execute(db)
      yield* found.rows
      below = end
      // SQLite answers at once: without a turn for them, nobody else would be served until the end.
      await pace()
    }
    await pace()
  }
}

/** Marks the records that a visitor booked: by their private link and, where the row is gone, by who created them. */
async function markVisitors(
  db: Db,
  resources: readonly Resource[],
  workspace_id: number,
  linked: Linked,
): Promise<void> {
  for (const { table, hidden } of resources) {
    const booked = 'link_hash' in hidden && linked.get(table)
    if (!booked) continue
    const ids = [...booked.keys()]
    for (let from = 0; from < ids.length; from += batch) {
      const some = ids.slice(from, from + batch)
      const { rows } = await sql<{ id: number }>`
        SELECT id FROM ${sql.table(table)}
        WHERE workspace_id = ${workspace_id} AND id IN (${sql.join(some)}) AND link_hash IS NOT NULL`.execute(
        db,
      )
      const entries = await db
        .selectFrom('audit_log')
        .select('record_id')
        .where('workspace_id', '=', workspace_id)
        .where('kind', '=', table)
        .where('record_id', 'in', some.map(String))
        .where('action', '=', 'created')
        .where('actor_kind', '=', 'visitor')
        .execute()
      for (const id of [...rows.map(({ id }) => id), ...entries.map(({ record_id }) => Number(record_id))])
        booked.set(id, true)
    }
  }
}
