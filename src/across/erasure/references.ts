import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { engineOf } from '../../db/statements/prepare.ts'
import { kindOf } from '../../events/kinds.ts'
import { type LinkedKind, linked_kinds } from './redaction.ts'
import { bytesOf, createPace, piecesOf } from './slices.ts'

/** Ids of records of each kind that refer to a contact, or did once; true for an appointment that a visitor booked. */
export type Linked = Record<LinkedKind, Map<number, boolean>>
export const noneLinked = (): Linked => ({ deals: new Map(), activities: new Map(), appointments: new Map() })

// The sizes of so many are read in about a millisecond.
const slice = 1000
const batch = 200

const isLinked = (kind: string | undefined): kind is LinkedKind => linked_kinds.some((one) => one === kind)

/**
 * Finds what refers to a contact in the trash, and what did before somebody made it refer to another one, or to none: the
 * audit log knows it and, of the time before there was one, the events. Nothing can come to refer to it any more.
 */
export async function findLinked(
  db: Db,
  workspace_id: number,
  contact_id: number,
  stopping?: AbortSignal,
): Promise<Linked> {
  const linked = noneLinked()
  // The rows first: what is made to refer to something else meanwhile is among them, or in an entry.
  for (const kind of linked_kinds) {
    const { rows } = await sql<{ id: number }>`
      SELECT id FROM ${sql.table(kind)}
      WHERE workspace_id = ${workspace_id} AND contact_id = ${contact_id}`.execute(db)
    for (const { id } of rows) linked[kind].set(id, false)
  }
  for await (const { kind, record_id } of entriesNaming(db, workspace_id, contact_id, stopping))
    if (isLinked(kind)) linked[kind].set(Number(record_id), false)
  for await (const { event, record_id } of eventsNaming(db, workspace_id, contact_id, stopping)) {
    const kind = kindOf(event)
    if (isLinked(kind) && record_id !== null) linked[kind].set(record_id, false)
  }
  await markVisitors(db, workspace_id, linked)
  return linked
}

const entriesNaming = (db: Db, workspace_id: number, contact_id: number, stopping?: AbortSignal) =>
  slices<{ kind: string; record_id: string }>(
    db,
    { workspace_id, table: 'audit_log', number: 'id', texts: ['before', 'after'], stopping },
    sql`SELECT kind, record_id`,
    sql`kind IN (${sql.join(linked_kinds)}) AND (${has(db, 'before', id_texts, contact_id)} OR ${has(db, 'after', id_texts, contact_id)})`,
  )

const eventsNaming = (db: Db, workspace_id: number, contact_id: number, stopping?: AbortSignal) =>
  slices<{ event: string; record_id: number | null }>(
    db,
    { workspace_id, table: 'events', number: 'seq', texts: ['payload'], stopping },
    sql`SELECT event, record_id`,
    has(db, 'payload', [...id_texts, '"contact":{"id":#,'], contact_id),
  )

// How JSON refers to a contact: in a text of its own, the quotation marks would be escaped.
const id_texts = ['"contact_id":#,', '"contact_id":#}']

/** A condition: a column has one of the texts. LIKE would take three times as long. */
function has(db: Db, column: string, texts: readonly string[], contact_id: number) {
  const place = sql.raw(engineOf(db) === 'sqlite' ? 'instr' : 'strpos')
  return sql.join(
    texts.map((text) => sql`${place}(${sql.ref(column)}, ${text.replace('#', String(contact_id))}) > 0`),
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
  const { rows } = await sql<{ last: number | null }>`SELECT max(${sql.ref(number)}) AS last ${from}`.execute(
    db,
  )
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

/** Marks the appointments that a visitor booked: by their private link and, where the row is gone, by who created them. */
async function markVisitors(db: Db, workspace_id: number, { appointments }: Linked): Promise<void> {
  const ids = [...appointments.keys()]
  for (let from = 0; from < ids.length; from += batch) {
    const some = ids.slice(from, from + batch)
    const rows = await db
      .selectFrom('appointments')
      .select('id')
      .where('workspace_id', '=', workspace_id)
      .where('id', 'in', some)
      .where('link_hash', 'is not', null)
      .execute()
    const entries = await db
      .selectFrom('audit_log')
      .select('record_id')
      .where('workspace_id', '=', workspace_id)
      .where('kind', '=', 'appointments')
      .where('record_id', 'in', some.map(String))
      .where('action', '=', 'created')
      .where('actor_kind', '=', 'visitor')
      .execute()
    for (const id of [...rows.map(({ id }) => id), ...entries.map(({ record_id }) => Number(record_id))])
      appointments.set(id, true)
  }
}
