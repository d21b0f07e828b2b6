import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { createPace } from '../../db/pace.ts'
import { engineOf } from '../../db/tx.ts'
import { referrersOf } from '../../resources/derived.ts'
import { eventPrefix, type Resource } from '../../resources/resource.ts'
import { embeddingsOf, linkedResources, persons_table, visitorFields } from './redaction.ts'
import { batchesOf, bytesOf, piecesOf } from './slices.ts'

/**
 * By table, the ids of records that refer to a contact, and whether a visitor booked each. Of the kinds that visitors book,
 * also the records that referred to it before.
 */
export type LinkedIds = ReadonlyMap<string, Map<number, boolean>>
export const noneLinked: LinkedIds = new Map()

/** The range of a scan: the rows of one workspace. The signal ends it. */
type Scan = { workspace_id: number; stopping: AbortSignal | undefined }

// The sizes of this many rows are read in about 1 ms.
const slice = 1000

/**
 * Finds the records that refer to a contact in the trash. The audit log and the events name the appointments that staff
 * gave to another contact. No record can start to refer to a contact in the trash.
 */
export async function findLinked(
  db: Db,
  resources: readonly Resource[],
  contact_id: number,
  scan: Scan,
): Promise<LinkedIds> {
  const { workspace_id } = scan
  const linked: LinkedIds = new Map(linkedResources(resources).map(({ table }) => [table, new Map()]))
  // Read the rows before the audit log: the log then has each record that gets another contact during the scan.
  for (const { resource, field } of referrersOf(resources, persons_table)) {
    const { rows } = await sql<{ id: number }>`
      SELECT id FROM ${sql.table(resource.table)}
      WHERE workspace_id = ${workspace_id} AND ${sql.ref(field)} = ${contact_id}`.execute(db)
    for (const { id } of rows) linked.get(resource.table)?.set(id, false)
  }
  const bookable = linkedResources(resources).filter((resource) => visitorFields(resource).length > 0)
  for (const resource of bookable) {
    const ids = linked.get(resource.table)
    const references = referencesTo(resource, contact_id)
    for await (const entries of entriesNaming(db, scan, resource, references))
      for (const { record_id } of entries) ids?.set(Number(record_id), false)
    for await (const events of eventsNaming(db, scan, resource, references))
      for (const { record_id } of events) if (record_id !== null) ids?.set(record_id, false)
    if (ids) await markBooked(db, workspace_id, resource, ids)
  }
  return linked
}

/** How the JSON of a record names the contact that it refers to. Inside a text, the quotation marks would be escaped. */
const referencesTo = (resource: Resource, contact_id: number): string[] =>
  referrersOf([resource], persons_table).flatMap(({ field }) => [
    `"${field}":${contact_id},`,
    `"${field}":${contact_id}}`,
  ])

/** How JSON begins an embedded copy of a contact. */
export const embeddedCopies = (resources: readonly Resource[], contact_id: number): string[] => [
  ...new Set(resources.flatMap(embeddingsOf).map((field) => `"${field}":{"id":${contact_id},`)),
]

const entriesNaming = (db: Db, scan: Scan, { table }: Resource, texts: readonly string[]) =>
  slices<{ record_id: string }>(
    db,
    { ...scan, table: 'audit_log', number: 'id', texts: ['before', 'after'] },
    sql`SELECT record_id`,
    sql`kind = ${table} AND (${has(db, 'before', texts)} OR ${has(db, 'after', texts)})`,
  )

const scanOfEvents = { table: 'events', number: 'seq', texts: ['payload'] } as const

const eventsNaming = (db: Db, scan: Scan, resource: Resource, texts: readonly string[]) =>
  slices<{ record_id: number | null }>(
    db,
    { ...scan, ...scanOfEvents },
    sql`SELECT record_id`,
    sql`event LIKE ${`${eventPrefix(resource)}.%`} AND (${has(db, 'payload', texts)})`,
  )

/** An event, the record that it is about, and whether its payload has one of the embedded copies. */
type SeenEvent = { seq: number; event: string; record_id: number | null; has_copy: boolean }

/**
 * Reads all events of a workspace in slices, and returns the seqs of the wanted ones. There is no index by record: every
 * change would pay for a rare operation.
 */
export async function findEvents(
  db: Db,
  scan: Scan,
  copies: readonly string[],
  wanted: (event: SeenEvent) => boolean,
): Promise<number[]> {
  const found: number[] = []
  const select = sql`SELECT seq, event, record_id, ${has(db, 'payload', copies)} AS has_copy`
  for await (const events of slices<SeenEvent>(db, { ...scan, ...scanOfEvents }, select, sql`TRUE`))
    for (const event of events) if (wanted(event)) found.push(event.seq)
  return found
}

const has = (db: Db, column: string, texts: readonly string[]) => hasText(db, sql.ref(column), texts)

/** A condition: a text has one of the texts. LIKE takes three times as long. */
export function hasText(db: Db, within: RawBuilder<unknown>, texts: readonly string[]) {
  const position = sql.raw(engineOf(db) === 'sqlite' ? 'instr' : 'strpos')
  const found = texts.map((text) => sql`${position}(${within}, ${text}) > 0`)
  return found.length ? sql`(${sql.join(found, sql` OR `)})` : sql`FALSE`
}

type Numbered = {
  table: 'audit_log' | 'events'
  number: 'id' | 'seq'
  texts: readonly string[]
}

/** Selects from a workspace's rows in slices. The length of their texts limits the number of rows of a slice. */
async function* slices<T>(
  db: Db,
  { workspace_id, table, number, texts, stopping }: Scan & Numbered,
  select: ReturnType<typeof sql>,
  condition: ReturnType<typeof sql>,
): AsyncGenerator<T[]> {
  // Without the +, SQLite would choose an index of the workspace instead of the index of the number.
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
      const found = await sql<T>`${select} ${within(below, end)} AND ${condition}`.execute(db)
      yield found.rows
      below = end
      // SQLite answers synchronously, so let other requests run between two slices.
      await pace()
    }
    await pace()
  }
}

/** Marks the records that a visitor booked: by their private link or, without a row, by the audit log. */
async function markBooked(db: Db, workspace_id: number, { table }: Resource, ids: Map<number, boolean>) {
  for (const some of batchesOf([...ids.keys()])) {
    const { rows } = await sql<{ id: number | string }>`
      SELECT id FROM ${sql.table(table)}
      WHERE workspace_id = ${workspace_id} AND id IN (${sql.join(some)}) AND link_hash IS NOT NULL
      UNION ALL
      SELECT CAST(record_id AS bigint) FROM audit_log
      WHERE workspace_id = ${workspace_id} AND kind = ${table} AND action = 'created' AND actor_kind = 'visitor'
        AND record_id IN (${sql.join(some.map(String))})`.execute(db)
    for (const { id } of rows) ids.set(Number(id), true)
  }
}
