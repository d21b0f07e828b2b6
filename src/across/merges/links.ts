import { type SqlBool, sql } from 'kysely'
import type { Tx } from '../../db/db.ts'
import { rowLock } from '../../db/locks.ts'
import { isLive } from '../../db/references.ts'
import { openBulk } from '../../db/statements/bulk.ts'
import { prepare } from '../../db/statements/prepare.ts'
import { prepareInsert } from '../../db/statements/recordset.ts'
import { ApiError } from '../../errors.ts'
import type { Context } from '../../events/context.ts'
import { prepareEmit } from '../../events/emit.ts'
import { idListsOf, referrersOf } from '../../resources/derived.ts'
import type { Resource } from '../../resources/resource.ts'
import type { Room } from '../../resources/room.ts'
import type { Merge } from './state.ts'

/** A kind of record that can be merged, with all that refers to its records. */
export type MergeKind = {
  room: Room
  resource: Resource
  operations: NonNullable<Room['operations']>
  details: NonNullable<Room['details']>
  /** The fields by which an upsert finds a record. */
  match: NonNullable<Room['batch']>['match']
  links: readonly Link[]
}

/** A field that refers to the records of a kind, or names the owner of a part; or the rows of a list of ids. */
export type Link = {
  resource: Pick<Resource, 'scope' | 'events'> & { table: string }
  field: string
  /** The records that have the list, for the rows of one. Rows are changed one by one. An undo does not report removed rows. */
  of_list?: Pick<Resource, 'table'>
  /** Makes a live record refer to another record, by its operation. */
  change(tx: Tx, context: Context, id: number, to: number): Promise<object>
}

export const unconditional = { problems: [], expect: () => {} }

/** The kinds that can be merged, by their table. Throws for a description that is not complete. */
export function mergeKinds(rooms: readonly Room[]): ReadonlyMap<string, MergeKind> {
  const kinds = rooms.flatMap((room): MergeKind[] => {
    const { resource, operations, details, batch } = room
    if (!resource.duplicates.length) return []
    if (!operations || !details) throw new Error(`${resource.table} lacks its operations or its detail view.`)
    const match = batch?.match ?? []
    return [{ room, resource, operations, details, match, links: linksTo(rooms, resource.table) }]
  })
  return new Map(kinds.map((kind) => [kind.resource.table, kind]))
}

const linksTo = (rooms: readonly Room[], table: string): Link[] =>
  rooms.flatMap(({ resource, operations, give }) => {
    const { part_of } = resource
    const lacks = () => new Error(`${resource.table} refers to ${table}, and lacks what changes its records.`)
    const references = referrersOf([resource], table).map(({ field }): Link => {
      if (!operations) throw lacks()
      const change: Link['change'] = (tx, context, id, to) =>
        operations.change(tx, context, id, { [field]: to }, unconditional)
      return { resource, field, change }
    })
    const lists = idListsOf([resource], table).map(({ ids }): Link => {
      if (!give) throw lacks()
      return { resource: { ...resource, table: ids.table }, field: ids.id, of_list: resource, change: give }
    })
    references.push(...lists)
    if (part_of?.table !== table) return references
    if (!give) throw lacks()
    return [...references, { resource, field: part_of.by, change: give }]
  })

/** Reads who is subscribed to the events of a merge, before its records are locked. */
export const prepareEvents = (tx: Tx, { workspace_id }: Context, { resource, links }: MergeKind): void =>
  prepareEmit(
    tx,
    workspace_id,
    [...new Set([resource, ...links.map((link) => link.resource)])].flatMap(({ events }) => events),
  )

// So many records are changed together. This takes about 10 ms.
const batch = 25

type Referring = { id: number; from_id: number; updated_at: string; deleted_at: string | null }

/** Locks and reads records by ids that a column has, also those in the trash. */
async function referring(
  tx: Tx,
  workspace_id: number,
  { resource, field, of_list }: Link,
  ids: readonly number[],
  column = field,
) {
  const deleted_at = of_list ? sql`NULL AS deleted_at` : sql`deleted_at`
  const locked = rowLock(tx, 'FOR NO KEY UPDATE')
  const { rows } = await sql<Referring>`
    SELECT id, ${sql.ref(field)} AS from_id, updated_at, ${deleted_at} FROM ${sql.table(resource.table)}
    WHERE workspace_id = ${workspace_id} AND ${sql.ref(column)} IN (${sql.join(ids)})
    ORDER BY id LIMIT ${batch} ${locked}`.execute(tx)
  return rows
}

/**
 * Moves what refers to the merged records to the survivor, until `until` (performance.now), and at least one batch. True when
 * nothing is left.
 */
export async function moveLinks(
  tx: Tx,
  context: Context,
  { links }: MergeKind,
  merge: Merge,
  until: number,
): Promise<boolean> {
  let count = 0
  for (const link of links)
    for (;;) {
      const rows = await referring(tx, merge.workspace_id, link, merge.from_ids)
      // A slow database, too, comes to an end.
      if (rows.length && count > 0 && performance.now() > until) return false
      const moved = await inBulk(tx, link, rows, (member, row) => moveLink(member, context, link, merge, row))
      await keepUntouched(tx, merge, link, timesOf(rows, moved))
      await addLinks(tx, moved)
      count += rows.length
      if (rows.length < batch) break
    }
  return true
}

const addLinks = prepareInsert(
  'merge_links',
  {
    workspace_id: 'bigint!',
    merge_id: 'bigint!',
    kind: 'text!',
    record_id: 'bigint!',
    field: 'text!',
    from_id: 'bigint!',
    updated_at: 'text!',
  },
  // Somebody gave it back to the merged record meanwhile.
  {
    existing: {
      key: ['workspace_id', 'merge_id', 'kind', 'record_id', 'field'],
      gets: ['from_id', 'updated_at'],
    },
  },
)

/** The times of a change of a record that a merge or an undo moved. */
type Times = { record_id: number; before: string; after: string }

const timesOf = (rows: readonly Referring[], moved: readonly { updated_at: string }[]): Times[] =>
  rows.map(({ id, updated_at }, index) => ({
    record_id: id,
    before: updated_at,
    after: moved[index]?.updated_at ?? updated_at,
  }))

/**
 * A record that a merge moves stays untouched for the other merges that moved it. So each of those can still be undone:
 * a contact's deal moves again when the contact that it moved to is merged, or its company.
 */
async function keepUntouched(
  tx: Tx,
  { workspace_id, id }: Pick<Merge, 'workspace_id' | 'id'>,
  { resource }: { resource: { table: string } },
  times: readonly Times[],
): Promise<void> {
  if (!times.length) return
  const by_id = new Map(times.map((time) => [time.record_id, time]))
  const earlier = await tx
    .selectFrom('merge_links')
    .select(['merge_id', 'record_id', 'field', 'updated_at'])
    .where((eb) => eb.and({ workspace_id, kind: resource.table }))
    .where('record_id', 'in', [...by_id.keys()])
    .where('merge_id', '<>', id)
    .where('reason', 'is', null)
    .execute()
  for (const { merge_id, record_id, field, updated_at } of earlier) {
    const { before, after } = by_id.get(record_id) ?? {}
    if (updated_at !== before || after === before) continue
    await tx
      .updateTable('merge_links')
      .set({ updated_at: after })
      .where((eb) => eb.and({ workspace_id, merge_id, kind: resource.table, record_id, field }))
      .execute()
  }
}

async function moveLink(tx: Tx, context: Context, link: Link, merge: Merge, row: Referring) {
  const { id: record_id, from_id } = row
  const { workspace_id, id: merge_id, survivor_id } = merge
  const updated_at = await setLink(tx, context, link, row, survivor_id)
  return {
    workspace_id,
    merge_id,
    kind: link.resource.table,
    record_id,
    field: link.field,
    from_id,
    updated_at,
  }
}

/** Runs a step for each item. Equal statements of the items are sent together (db/statements/bulk.ts). */
async function inBulk<T, R>(
  tx: Tx,
  { of_list }: Link,
  items: readonly T[],
  step: (member: Tx, item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = []
  if (of_list) {
    for (const item of items) results.push(await step(tx, item))
    return results
  }
  const bulk = openBulk(tx)
  if (tx.engine === 'sqlite')
    for (const [index, item] of items.entries()) results.push(await step(bulk.member(index), item))
  else {
    // The transaction must not end before all of them have.
    const settled = await Promise.allSettled(items.map((item, index) => step(bulk.member(index), item)))
    for (const one of settled) {
      if (one.status === 'rejected') throw one.reason
      results.push(one.value)
    }
  }
  await bulk.flush()
  return results
}

/** Changes a reference, and returns the record's updated_at. No view shows a record in the trash, so it keeps that time. */
async function setLink(
  tx: Tx,
  context: Context,
  { resource, field, of_list, change }: Link,
  { id, updated_at, deleted_at }: Pick<Referring, 'id' | 'updated_at' | 'deleted_at'>,
  to: number,
): Promise<string> {
  if (deleted_at === null) {
    const after = (await change(tx, context, id, to)) as { updated_at: string; owner?: Times }
    // Merges that have moved the record of the list can still be undone: this one, too, so no merge is left out.
    if (of_list && after.owner)
      await keepUntouched(tx, { ...context, id: 0 }, { resource: of_list }, [after.owner])
    return after.updated_at
  }
  await sql`UPDATE ${sql.table(resource.table)} SET ${sql.ref(field)} = ${to}
    WHERE workspace_id = ${context.workspace_id} AND id = ${id}`.execute(tx)
  return updated_at
}

/**
 * Gives records back that a merge moved, until `until`, and at least one batch. A record that was changed since is left, with
 * the reason. Returns how many went back, and whether nothing is left to do.
 */
export async function moveBack(
  tx: Tx,
  context: Context,
  kind: MergeKind,
  merge: Merge,
  until: number,
): Promise<{ count: number; is_done: boolean }> {
  let count = 0
  let tried = 0
  for (const link of kind.links)
    for (;;) {
      const moved = await movedBy(tx, merge, link)
      if (moved.length && tried > 0 && performance.now() > until) return { count, is_done: false }
      if (moved.length) count += await movePieceBack(tx, context, kind, merge, link, moved)
      tried += moved.length
      if (moved.length < batch) break
    }
  return { count, is_done: true }
}

type Moved = { record_id: number; from_id: number; updated_at: string }

const waitingLinks = prepare(
  (p: { workspace_id: number; merge_id: number; kind: string; field: string }, db) =>
    db
      .selectFrom('merge_links')
      .select(['record_id', 'from_id', 'updated_at'])
      .where((eb) =>
        eb.and({ workspace_id: p.workspace_id, merge_id: p.merge_id, kind: p.kind, field: p.field }),
      )
      .where('reason', 'is', null)
      .orderBy('record_id')
      .limit(batch),
)

/** The next records that a merge moved by a link, and that are not settled. */
const movedBy = async (tx: Tx, { workspace_id, id }: Merge, { resource, field }: Link) =>
  (await waitingLinks(tx, { workspace_id, merge_id: id, kind: resource.table, field })) as Moved[]

/** Gives some records back; returns how many of them. */
async function movePieceBack(
  tx: Tx,
  context: Context,
  { resource }: MergeKind,
  merge: Merge,
  link: Link,
  moved: readonly Moved[],
): Promise<number> {
  const { workspace_id, survivor_id } = merge
  const ids = moved.map(({ record_id }) => record_id)
  const rows = await referring(tx, workspace_id, link, ids, 'id')
  const by_id = new Map(rows.map((row) => [row.id, row]))
  const times: Times[] = []
  const reasons = await inBulk(tx, link, moved, async (member, { record_id, from_id, updated_at }) => {
    const row = by_id.get(record_id)
    if (!row) return 'not_found'
    if (row.from_id !== survivor_id || row.updated_at !== updated_at) return 'changed'
    if (!(await isLive(member, resource.table, workspace_id, from_id))) return 'owner_not_found'
    return setLink(member, context, link, row, from_id).then(
      (after) => {
        times.push({ record_id, before: updated_at, after })
        return null
      },
      (error) => {
        // Operations refuse a change before they write.
        if (error instanceof ApiError) return 'refused'
        throw error
      },
    )
  })
  await keepUntouched(tx, merge, link, times)
  const by_reason = new Map<string | null, number[]>()
  for (const [index, reason] of reasons.entries()) {
    const { record_id = 0 } = moved[index] ?? {}
    by_reason.set(reason, [...(by_reason.get(reason) ?? []), record_id])
  }
  for (const [reason, those] of by_reason) await settle(tx, merge, link, those, reason)
  return by_reason.get(null)?.length ?? 0
}

/** Forgets links that went back, or notes why they did not. */
async function settle(
  tx: Tx,
  { workspace_id, id }: Merge,
  { resource, field, of_list }: Link,
  record_ids: readonly number[],
  reason: string | null,
): Promise<void> {
  const these = sql<SqlBool>`workspace_id = ${workspace_id} AND merge_id = ${id} AND kind = ${resource.table}
    AND field = ${field} AND record_id IN (${sql.join(record_ids)})`
  await (reason === null || of_list
    ? sql`DELETE FROM merge_links WHERE ${these}`
    : sql`UPDATE merge_links SET reason = ${reason} WHERE ${these}`
  ).execute(tx)
}
