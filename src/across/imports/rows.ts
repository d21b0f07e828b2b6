import type { Clock } from '../../clock.ts'
import { type Db, transaction } from '../../db/db.ts'
import type { ApiError } from '../../errors.ts'
import type { Context } from '../../events/context.ts'
import type { FileRow } from '../../files/rows.ts'
import { runBatch } from '../../resources/batch.ts'
import { type Item, type Outcome, type Writes, writesOf } from '../../resources/batch-items.ts'
import { byDependency } from '../../resources/derived.ts'
import type { ImportForm, Room } from '../../resources/room.ts'
import { keepChanges } from './changes.ts'
import { keepErrors, type RowError } from './errors.ts'
import type { MappedRow, Mapping } from './mapping.ts'
import { linkNames } from './names.ts'
import type { ImportOptions, KindCounts } from './schema.ts'
import { holdImport, type ImportRow } from './store.ts'

export type ImportRoom = Room & { import: ImportForm }

/** The rooms whose records can be imported. */
export const roomsWithImport = (rooms: readonly Room[]) =>
  rooms.filter((room): room is ImportRoom => room.import !== undefined && room.batch !== undefined)
/** The room of a table that has imports. */
export const roomOf = (rooms: readonly Room[], table: string) =>
  roomsWithImport(rooms).find(({ resource }) => resource.table === table) as ImportRoom

/** The rooms whose records an archive brings, each after those that it refers to. */
export function archiveRooms(rooms: readonly Room[]): ImportRoom[] {
  const forms = rooms.flatMap((room) =>
    room.archived ? { ...room, ...room.archived, import: { headers: {}, by_name: [] } } : room,
  )
  const all = roomsWithImport(forms)
  const ordered = byDependency(all.map(({ resource }) => resource))
  return ordered.map((resource) => all.find((room) => room.resource === resource) as ImportRoom)
}

/** The rooms that an import writes: all of them from an archive of a workspace. */
export const writtenRooms = (rooms: readonly Room[], resource: string): ImportRoom[] =>
  resource === 'workspace' ? archiveRooms(rooms) : [roomOf(rooms, resource)]

/** An import that this process runs. */
export type Running = {
  db: Db
  clock: Clock
  rooms: readonly Room[]
  room: ImportRoom
  options: ImportOptions
  mapping: Mapping
  /** As it was claimed; the counters are those of the last commit. */
  row: ImportRow
  /** Gives rows of an archive the ids of this workspace, and takes strangers' ids from those of other files. */
  relink: Relink
  /** A context for one transaction. */
  context(): Context
}

/** Puts the ids of this workspace into rows, or takes ids away; returns what a row refers to in vain. */
export type Relink = (running: Running, rows: ReadonlyMap<FileRow, MappedRow>) => Promise<RowError[]>

/** A row that can be read, and its item. `later` has the fields that only an existing record takes. */
type Prepared = { row: FileRow; item: Item; later: Record<string, unknown> | null }

/** Imports rows in one transaction, together with the position in the file. Throws Lost. */
export async function importRows(running: Running, rows: readonly FileRow[]): Promise<void> {
  const { prepared, errors, notes } = await prepareRows(running, rows)
  const { row, options } = running
  const failed_before = rows.length - prepared.length
  const writes = writesOf(running.room) as Writes
  // The same lists when the transaction runs again.
  const items = prepared.map(({ item }) => item)
  const changes: Item[] = []
  const on_match = options.on_match === 'skip' ? 'skip' : 'update'
  const run = async (tx: Db): Promise<Outcome[]> => {
    const context = running.context()
    const one_by_one = running.room.archived !== undefined
    const outcomes = await runBatch(tx, context, writes, items, { atomic: false, on_match, one_by_one })
    changes.splice(0, changes.length, ...laterChanges(prepared, outcomes))
    const changed = changes.length ? await runBatch(tx, context, writes, changes, { atomic: false }) : []
    return [...outcomes, ...changed]
  }
  const save = async (tx: Db, outcomes: readonly Outcome[]) => {
    const imported = importedOf(prepared, outcomes, on_match)
    const kept_notes = notes.filter((note) => imported.has(note.row))
    const found = [...errors, ...kept_notes, ...errorsOf(prepared, changes, outcomes)]
    found.sort((a, b) => a.row.number - b.row.number)
    return saveProgress(tx, row, rows, {
      ...countsOf(outcomes.slice(0, prepared.length)),
      failed: failed_before + outcomes.slice(0, prepared.length).filter(({ error }) => error).length,
      errors: keepErrors(tx, row, found),
    })
  }
  const tried = options.dry_run ? await tryOut(running, run) : null
  const progress = await transaction(
    running.db,
    async (tx) => {
      await holdImport(tx, row, running.clock.elapsed())
      if (tried) return save(tx, tried)
      const outcomes = await run(tx)
      await keepChanges(tx, row, running.room, outcomes, sourcesOf(prepared, outcomes))
      return save(tx, outcomes)
    },
    { large: true },
  )
  Object.assign(row, progress)
}

class Tried extends Error {
  readonly outcomes: Outcome[]
  constructor(outcomes: Outcome[]) {
    super('The transaction was a dry run.')
    this.outcomes = outcomes
  }
}

async function tryOut({ db }: Running, run: (tx: Db) => Promise<Outcome[]>): Promise<Outcome[]> {
  try {
    return await transaction(
      db,
      async (tx) => {
        throw new Tried(await run(tx))
      },
      { large: true },
    )
  } catch (error) {
    if (error instanceof Tried) return error.outcomes
    throw error
  }
}

/** The rows that became records. Of the others, nothing was imported without a link. */
const importedOf = (prepared: readonly Prepared[], outcomes: readonly Outcome[], on_match: string) =>
  new Set(
    prepared.flatMap(({ row }, n) => {
      const { error, status } = outcomes[n] as Outcome
      return error || (on_match === 'skip' && status === 'unchanged') ? [] : [row]
    }),
  )

/** Rows that can be read, the errors of the others, and notes on links that rows lose. */
type Read = { prepared: Prepared[]; errors: RowError[]; notes: RowError[] }

async function prepareRows(running: Running, rows: readonly FileRow[]): Promise<Read> {
  const errors: RowError[] = []
  const mapped = new Map<FileRow, MappedRow>()
  for (const row of rows) {
    if (row.problem) errors.push({ row, field: '', message: row.problem })
    else mapped.set(row, running.mapping.read(row))
  }
  const notes = await running.relink(running, mapped)
  const problems = await linkNames(running, [...mapped.values()])
  const prepared: Prepared[] = []
  for (const [row, read] of mapped) {
    const problem = problems.get(read)
    if (problem) errors.push({ row, field: Object.keys(read.names).join(), message: problem })
    else prepared.push({ row, ...itemOf(running, read) })
  }
  return { prepared, errors, notes }
}

function itemOf({ options: { on_match, match }, room }: Running, { data }: MappedRow) {
  const matches = on_match !== 'create' && match !== null && hasValue(data, match)
  let later: Prepared['later'] = null
  for (const field of room.import.after_create ?? [])
    if (data[field] !== undefined && data[field] !== null) {
      later = Object.assign(later ?? {}, { [field]: data[field] })
      delete data[field]
    }
  const item: Item = matches ? { op: 'upsert', match, data } : { op: 'create', data }
  return { item, later }
}

function hasValue(data: Record<string, unknown>, match: string): boolean {
  const [, key] = /^custom_fields\.(.+)$/s.exec(match) ?? []
  const value = key ? (data.custom_fields as Record<string, unknown> | undefined)?.[key] : data[match]
  return value !== undefined && value !== null && String(value).trim() !== ''
}

/** The changes of records with fields that a new record does not take. */
const laterChanges = (prepared: readonly Prepared[], outcomes: readonly Outcome[]): Item[] =>
  prepared.flatMap(({ later }, n) => {
    const { status, id } = outcomes[n] as Outcome
    const is_there = status === 'created' || status === 'updated'
    return later && is_there && id !== null ? [{ op: 'update' as const, id, data: later }] : []
  })

function errorsOf(
  prepared: readonly Prepared[],
  changes: readonly Item[],
  outcomes: readonly Outcome[],
): RowError[] {
  const rows_of_ids = new Map(outcomes.slice(0, prepared.length).map(({ id }, n) => [id, prepared[n]?.row]))
  return outcomes.flatMap(({ error }, n) => {
    const row = prepared[n]?.row ?? rows_of_ids.get(changes[n - prepared.length]?.id ?? null)
    return error && row ? problemsOf(error).map((problem) => ({ row, ...problem })) : []
  })
}

/** The problems that an error has, each with its field. */
export const problemsOf = ({ fields, message }: ApiError) =>
  fields?.map(({ field, message }) => ({ field, message })) ?? [{ field: '', message }]

/** The ids that new records had in an archive. */
const sourcesOf = (prepared: readonly Prepared[], outcomes: readonly Outcome[]): Map<number, number> =>
  new Map(
    prepared.flatMap(({ row: { archived } }, n): [number, number][] => {
      const id = outcomes[n]?.id ?? null
      return archived && archived.id !== null && id !== null ? [[id, archived.id]] : []
    }),
  )

function countsOf(outcomes: readonly Outcome[]) {
  const counts = { created: 0, updated: 0, skipped: 0 }
  for (const { status } of outcomes) {
    if (status === 'created' || status === 'updated') counts[status]++
    else if (status === 'unchanged') counts.skipped++
  }
  return counts
}

/** Counts the rows of parts in a dry run, with the problems of those that cannot be read. */
export async function countParts({ db, clock, row }: Running, rows: readonly FileRow[]): Promise<void> {
  const errors = rows.flatMap((one) => (one.problem ? [{ row: one, field: '', message: one.problem }] : []))
  const progress = await transaction(db, async (tx) => {
    await holdImport(tx, row, clock.elapsed())
    const failed = errors.length
    const counts = { created: rows.length - failed, updated: 0, skipped: 0, failed }
    return saveProgress(tx, row, rows, { ...counts, errors: keepErrors(tx, row, errors) })
  })
  Object.assign(row, progress)
}

/** The counters and the position of an import. */
export type Progress = Pick<
  ImportRow,
  | 'rows_read'
  | 'created'
  | 'updated'
  | 'skipped'
  | 'failed'
  | 'kinds'
  | 'errors'
  | 'last_row'
  | 'progress'
  | 'claims'
>

/** The counters of rows that did nothing. */
export const nothing_done = { created: 0, updated: 0, skipped: 0, failed: 0, errors: 0 }

type Counts = Omit<KindCounts, 'kind'>

const sumOf = (before: Counts, rows: readonly FileRow[], added: Omit<Counts, 'rows_read'>): Counts => ({
  rows_read: before.rows_read + rows.length,
  created: before.created + added.created,
  updated: before.updated + added.updated,
  skipped: before.skipped + added.skipped,
  failed: before.failed + added.failed,
})

/** Stores the counters and the position after rows of one kind; returns them. */
export async function saveProgress(
  tx: Db,
  row: ImportRow,
  rows: readonly FileRow[],
  added: typeof nothing_done,
): Promise<Progress> {
  const progress: Progress = {
    ...sumOf(row, rows, added),
    kinds: JSON.stringify(countKind(row, rows, added)),
    errors: row.errors + added.errors,
    last_row: rows.at(-1)?.number ?? row.last_row,
    progress: row.progress,
    claims: 0,
  }
  await tx.updateTable('imports').set(progress).where('id', '=', row.id).execute()
  return progress
}

/** The counters by kind with those of some rows. The kinds of an archive come one after the other. */
function countKind(
  { resource, kinds }: ImportRow,
  rows: readonly FileRow[],
  added: typeof nothing_done,
): KindCounts[] {
  const kind = rows[0]?.archived?.kind ?? resource
  const all: KindCounts[] = JSON.parse(kinds)
  const before = all.find((one) => one.kind === kind) ?? { ...nothing_done, rows_read: 0 }
  return [...all.filter((one) => one.kind !== kind), { kind, ...sumOf(before, rows, added) }]
}
