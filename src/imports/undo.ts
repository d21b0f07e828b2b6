import { sql } from 'kysely'
import { deleteDefinition } from '../custom-fields/operations.ts'
import type { Tx } from '../db/db.ts'
import { rowLock } from '../db/locks.ts'
import { survivorsAmong } from '../db/merged.ts'
import { addWork } from '../db/work.ts'
import { ApiError, conflict } from '../errors.ts'
import { recordChange } from '../events/audit.ts'
import type { Context } from '../events/context.ts'
import type { Item } from '../resources/batch/items.ts'
import { putBack } from '../resources/batch/undo.ts'
import { referrersOf } from '../resources/derived.ts'
import type { Room } from '../resources/room.ts'
import { lease_ms, type WorkSteps } from '../work/run.ts'
import { hasOtherTagsOnly, undoingItem } from './changes.ts'
import { definitions_kind } from './definitions.ts'
import { archiveRooms } from './rows.ts'
import { undoView, views_kind } from './saved-views.ts'
import type { Left } from './schema.ts'
import { type ImportRow, lockImport } from './store.ts'

// Puts back what an import changed, in small transactions. Each transaction removes the entries that it has undone, so
// the job can continue an undo that a crash interrupted.

const records_at_once = 100
const max_left = 1000
// Records that wait for a unique value. The ids are parameters of a statement.
const max_waiting = 1000

/** Marks an import as undone, in the transaction of the request. The rest is work, which the request does. */
export async function beginUndo(tx: Tx, context: Context, row: ImportRow): Promise<void> {
  if (row.status === 'undone') return
  await tx.updateTable('imports').set({ status: 'undone' }).where('id', '=', row.id).execute()
  const position: Pass = { waiting: [], restored: 0, ascending: false, is_last: false }
  addWork(tx, context, { kind: 'import_undo', subject: row.id, position, lease_ms })
  recordChange(tx, context, {
    action: 'undone',
    kind: 'imports',
    record_id: row.id,
    after: { resource: row.resource, file_name: row.file_name },
  })
}

type Change = { kind: string; record_id: number; changed_at: string; before: string | null }

/** Undoes a marked import. */
export const undoWork = (rooms: readonly Room[]): WorkSteps<Pass> => ({
  kind: 'import_undo',
  source: 'import',
  large: true,
  async step(tx, { subject: id, position: pass, context, repeated }) {
    const done = await undoSome(tx, context, rooms, pass, id, repeated as Item[])
    if (done.rest) {
      const waiting = [...new Set([...pass.waiting, ...done.waiting])]
      return { position: { ...pass, waiting, restored: pass.restored + done.restored } }
    }
    if (!pass.waiting.length) return 'done'
    // Values that others had in this pass may be free in the next one, which begins at the other end.
    const is_last = pass.restored === 0
    return { position: { waiting: [], restored: 0, ascending: !pass.ascending, is_last } }
  },
})

/**
 * A pass through the changes of an import. A record may need a unique value that another one has until its own change is
 * undone. Such a record waits for the next pass. The last pass restores none, and lists them.
 */
type Pass = { waiting: number[]; restored: number; ascending: boolean; is_last: boolean }

/** Undoes some changes. Returns how many it restored, which records wait, and whether there may be others. */
async function undoSome(
  tx: Tx,
  context: Context,
  rooms: readonly Room[],
  pass: Pass,
  id: string,
  items: Item[],
): Promise<{ restored: number; waiting: number[]; rest: boolean }> {
  const row = await lockImport(tx, context.workspace_id, id)
  if (!row) throw new Error(`The import ${id} is gone.`)
  const changes = await nextChanges(tx, rooms, row, pass)
  const [first] = changes
  // Records that wait may refer to records of other kinds.
  if (!first || (pass.waiting.length && first.kind !== row.resource))
    return { restored: 0, waiting: [], rest: false }
  const remove = settings[first.kind]
  const { restored, left } = remove
    ? await undoSettings(tx, context, changes, remove)
    : await undoRecords(tx, context, rooms, row, changes, items)
  const waiting = first.kind === row.resource ? waitingIn(pass, left) : []
  const final = [...left].filter(([id]) => !waiting.includes(id as number))
  const all_left: Left = [
    ...JSON.parse(row.not_restored ?? '[]'),
    ...final.map(([id, reason]) => ({ kind: first.kind, id, reason })),
  ].slice(0, max_left)
  await tx
    .updateTable('imports')
    .set({
      restored: row.restored + restored,
      not_restored: JSON.stringify(all_left),
    })
    .where('id', '=', id)
    .execute()
  await forget(
    tx,
    row,
    changes.filter(({ record_id }) => !waiting.includes(record_id)),
  )
  return { restored, waiting, rest: true }
}

/** The records that wait for the next pass. */
function waitingIn({ is_last, waiting }: Pass, left: Undone['left']): number[] {
  if (is_last || waiting.length >= max_waiting) return []
  return [...left].flatMap(([id, reason]) => (reason === 'taken' && typeof id === 'number' ? id : []))
}

/** How many changes an undo put back, and the others by their ids with the reasons. */
type Undone = { restored: number; left: Iterable<[number | string, string]> }

type Remove = (tx: Tx, context: Context, made: Change, expect: (record: object) => void) => Promise<void>

/** Deletes what an import made besides records, by its kind. */
const settings: Readonly<Record<string, Remove>> = {
  [definitions_kind]: (tx, context, { record_id }, expect) =>
    deleteDefinition(tx, context, record_id, expect),
  [views_kind]: (tx, context, { before }, expect) => undoView(tx, context, before ?? '', expect),
}

async function undoSettings(
  tx: Tx,
  context: Context,
  changes: readonly Change[],
  remove: Remove,
): Promise<Undone> {
  const left = new Map<number | string, string>()
  for (const change of changes)
    try {
      await remove(tx, context, change, (record) => {
        if ((record as { updated_at: string }).updated_at !== change.changed_at)
          throw conflict('changed_since', 'Changed.')
      })
    } catch (error) {
      // Nothing is written before the checks.
      if (!(error instanceof ApiError)) throw error
      left.set(change.before ?? change.record_id, error.code === 'not_found' ? 'deleted' : 'changed')
    }
  return { restored: changes.length - left.size, left }
}

async function undoRecords(
  tx: Tx,
  context: Context,
  rooms: readonly Room[],
  row: ImportRow,
  changes: readonly Change[],
  items: Item[],
): Promise<Undone> {
  const room = rooms.find(({ resource }) => resource.table === changes[0]?.kind) as Room
  const kept = await reasonsToKeep(tx, rooms, row, room, changes)
  const undone = changes.filter(({ record_id }) => !kept.has(record_id))
  const wanted = undone.map(
    ({ record_id, before }): Item =>
      before === null ? { op: 'delete', id: record_id } : undoingItem(record_id, before),
  )
  items.splice(0, items.length, ...wanted)
  const { left } = await putBack(tx, context, room, items)
  return { restored: items.length - left.size, left: [...kept, ...left] }
}

/** The newest changes of one kind: those of the import's own resource first, then of records that it made for them. */
async function nextChanges(
  tx: Tx,
  rooms: readonly Room[],
  { workspace_id, id, resource }: ImportRow,
  { waiting, ascending }: Pass,
): Promise<Change[]> {
  // Records of an archive go before those that they refer to.
  const kinds =
    resource === 'workspace'
      ? archiveRooms(rooms)
          .reverse()
          .map((room) => room.resource.table)
      : [resource]
  const ranks = kinds.map((kind, rank) => sql`WHEN ${kind} THEN ${sql.lit(rank)}`)
  const order = sql`CASE kind ${sql.join(ranks, sql` `)} ELSE ${sql.lit(kinds.length)} END,`
  const direction = ascending ? sql`ASC` : sql`DESC`
  const waits = waiting.length ? sql`record_id IN (${sql.join(waiting)})` : sql`FALSE`
  const { rows } = await sql<Change>`SELECT kind, record_id, changed_at, before FROM import_changes
    WHERE workspace_id = ${workspace_id} AND import_id = ${id} AND NOT (kind = ${resource} AND ${waits})
    ORDER BY ${order} kind, record_id ${direction} LIMIT ${records_at_once}`.execute(tx)
  return rows.filter(({ kind }) => kind === rows[0]?.kind)
}

/** Why records stay as they are: somebody changed or deleted them, or other records refer to them. */
async function reasonsToKeep(
  tx: Tx,
  rooms: readonly Room[],
  { workspace_id }: ImportRow,
  { resource, detailsByIds }: Room,
  changes: readonly Change[],
): Promise<Map<number, string>> {
  const { table } = resource
  const reasons = new Map<number, string>()
  const ids = changes.map(({ record_id }) => record_id)
  // Waits for transactions that begin to refer to a record, and then sees what they wrote.
  const lock = rowLock(tx, 'FOR UPDATE')
  const { rows } = await sql<{ id: number; updated_at: string; deleted_at: string | null }>`
    SELECT id, updated_at, deleted_at FROM ${sql.table(table)}
    WHERE workspace_id = ${workspace_id} AND id IN (${sql.join(ids)}) ORDER BY id ${lock}`.execute(tx)
  const found = new Map(rows.map((row) => [row.id, row]))
  for (const { record_id, changed_at } of changes) {
    const record = found.get(record_id)
    if (!record || record.deleted_at !== null) reasons.set(record_id, 'deleted')
    else if (record.updated_at !== changed_at) reasons.set(record_id, 'changed')
  }
  const changed = [...reasons].flatMap(([id, reason]) => (reason === 'changed' ? id : []))
  for (const record of await detailsByIds(tx, workspace_id, changed)) {
    const { before = null } = changes.find(({ record_id }) => record_id === record.id) ?? {}
    if (hasOtherTagsOnly(resource, before, record)) reasons.delete(record.id)
  }
  const made = changes.flatMap(({ before, record_id }) =>
    before === null && !reasons.has(record_id) ? record_id : [],
  )
  for (const id of await referredTo(tx, rooms, workspace_id, table, made)) reasons.set(id, 'in_use')
  // A merge may change no value of its survivor. Without the survivor, the merged records would be gone, too.
  for (const id of await survivorsAmong(tx, workspace_id, table, made)) reasons.set(id, 'changed')
  return reasons
}

async function referredTo(
  tx: Tx,
  rooms: readonly Room[],
  workspace_id: number,
  table: string,
  ids: readonly number[],
): Promise<number[]> {
  if (!ids.length) return []
  const resources = rooms.map(({ resource }) => resource)
  const parts = resources.flatMap((resource) =>
    resource.part_of?.table === table ? [{ resource, field: resource.part_of.by }] : [],
  )
  const used: number[] = []
  for (const { resource, field } of [...referrersOf(resources, table), ...parts]) {
    const { rows } = await sql<{
      id: number
    }>`SELECT DISTINCT ${sql.ref(field)} AS id FROM ${sql.table(resource.table)}
      WHERE workspace_id = ${workspace_id} AND ${sql.ref(field)} IN (${sql.join(ids)}) AND deleted_at IS NULL`.execute(
      tx,
    )
    used.push(...rows.map(({ id }) => id))
  }
  return used
}

async function forget(tx: Tx, { workspace_id, id }: ImportRow, changes: readonly Change[]): Promise<void> {
  if (!changes.length) return
  await tx
    .deleteFrom('import_changes')
    .where((eb) => eb.and({ workspace_id, import_id: id, kind: changes[0]?.kind ?? '' }))
    .where(
      'record_id',
      'in',
      changes.map(({ record_id }) => record_id),
    )
    .execute()
}
