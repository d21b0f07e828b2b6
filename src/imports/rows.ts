import { setImmediate as turn } from 'node:timers/promises'
import type { Clock } from '../clock.ts'
import type { Definition } from '../custom-fields/definition-rules.ts'
import { type Db, type Tx, transaction } from '../db/db.ts'
import { type Engine, engineOf } from '../db/tx.ts'
import type { Context } from '../events/context.ts'
import { blankLinesOf, charactersOf, type FileRow, linesOf } from '../files/rows.ts'
import { runBatch } from '../resources/batch/batch.ts'
import { type Item, type Outcome, type Writes, writesOf } from '../resources/batch/items.ts'
import { byDependency } from '../resources/derived.ts'
import type { ImportForm, Room } from '../resources/room.ts'
import { type UsedCells, withRows, withUse } from './account.ts'
import { isOfCell, leaveBadCells, mended } from './bad-cells.ts'
import { keepChanges } from './changes.ts'
import { type EarlierRows, keepEarlier, runEarlier } from './earlier-rows.ts'
import { keepErrors, problemsOf, type RowError } from './errors.ts'
import { itemOf } from './items.ts'
import type { MappedRow } from './mapped-row.ts'
import type { Mapping } from './mapping.ts'
import { linkNames } from './names.ts'
import { type Progress, saveProgress } from './progress.ts'
import type { ImportOptions } from './schema.ts'
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
  /** The custom fields as they were defined when the import began or was continued. Empty for an archive. */
  definitions: readonly Definition[]
  /** The earlier rows of a check. */
  earlier: EarlierRows
  /** Gives rows of an archive the ids of this workspace. Removes the ids of other workspaces from rows of other files. */
  relink: Relink
  /** A context for one transaction. */
  context(): Context
  /** When other work of this process last ran between two parts, in milliseconds of performance.now(). */
  others_ran_ms: number
}

/** Puts the ids of this workspace into rows, or removes ids. Returns an error for each reference that has no record. */
export type Relink = (running: Running, rows: ReadonlyMap<FileRow, MappedRow>) => Promise<RowError[]>

/** A row that can be read, its item, and what became of its cells. */
type Prepared = { row: FileRow; item: Item; is_unowned: boolean; used: UsedCells }

/** Rows that are imported together. Its list of items stays the same when a transaction runs again, as runBatch needs it. */
type Part = Read & { rows: FileRow[]; items: Item[] }
/** A part, and the outcomes of its items. */
type Ran = { part: Part; outcomes: Outcome[] }

/** How many rows a part has, and how long a transaction adds parts. */
type Pace = { part_rows: number; max_ms: number }

// Other work of this process runs between two parts. A transaction of SQLite lets no other one write, so it ends when
// another one waits. The commit of a longer one would delay requests. On PostgreSQL, more rows share the round trips.
const paces = {
  sqlite: { alone: { part_rows: 50, max_ms: 100 }, beside_others: { part_rows: 10, max_ms: 20 } },
  postgres: { alone: { part_rows: 500, max_ms: 200 }, beside_others: { part_rows: 100, max_ms: 100 } },
} satisfies Record<Engine['engine'], Record<'alone' | 'beside_others', Pace>>
// For so long after other work, an import expects more of it.
const beside_others_ms = 1000
// How long an import maps rows at once.
const read_ms = 1
// Rows of one part are checked at once.
const max_part_characters = 256 * 1024
// A longer turn of the event loop means that other work ran.
const turn_ms = 0.5

function paceOf({ db, room, others_ran_ms }: Running): Pace {
  const is_alone = performance.now() - others_ran_ms > beside_others_ms
  const pace = paces[engineOf(db)][is_alone ? 'alone' : 'beside_others']
  // The rows of an archive are written one by one.
  return room.archived ? { ...pace, part_rows: Math.min(pace.part_rows, 50) } : pace
}

/** Lets other work of this process run, and records whether there was any. */
async function giveWay(running: Running): Promise<void> {
  const from_ms = performance.now()
  await turn()
  const now_ms = performance.now()
  if (now_ms - from_ms > turn_ms) running.others_ran_ms = now_ms
}

/** Imports rows in short transactions, each together with its position in the file. Throws Lost. */
export async function importRows(running: Running, given: readonly FileRow[]): Promise<void> {
  const { cells } = running.options
  const parts = await prepareRows(
    running,
    given.map((row) => mended(row, cells)),
  )
  for (let done = 0; done < parts.length; ) done += await importSome(running, parts.slice(done))
}

/** Imports as many parts as a short transaction can; returns their number. */
async function importSome(running: Running, parts: readonly Part[]): Promise<number> {
  const { db, row, room, clock, options } = running
  let tries = 0
  // Only one part when it runs again: each part may need a try of its own.
  const run = (tx: Tx) => runParts(tx, running, tries++ ? parts.slice(0, 1) : parts)
  const tried = options.dry_run ? await transaction(db, run, { large: true, keeps: () => false }) : null
  if (tried)
    for (const { part, outcomes } of tried)
      keepEarlier(running, writesOf(room) as Writes, part.items, outcomes)
  const { count, progress } = await transaction(
    db,
    async (tx) => {
      await holdImport(tx, row, clock)
      const ran = tried ?? (await run(tx))
      const items = ran.flatMap(({ part }) => part.items)
      const outcomes = ran.flatMap((one) => one.outcomes)
      if (!tried) await keepChanges(tx, row, room, items, outcomes, sourcesOf(ran))
      return { count: ran.length, progress: await saveOutcomes(tx, running, ran) }
    },
    { large: true },
  )
  Object.assign(row, progress)
  return count
}

/** Runs parts until the transaction has taken its time, or another one waits for its end. */
async function runParts(tx: Tx, running: Running, parts: readonly Part[]): Promise<Ran[]> {
  const context = running.context()
  const until_ms = performance.now() + paceOf(running).max_ms
  const ran: Ran[] = []
  const earlier = new Set<number>()
  for (const part of parts) {
    ran.push(await runPart(tx, running, context, part, earlier))
    if (!tx.session.is_awaited) await giveWay(running)
    tx.session.writeAhead()
    if (performance.now() > until_ms || tx.session.is_awaited) break
    await giveWay(running)
  }
  return ran
}

async function runPart(
  tx: Tx,
  running: Running,
  context: Context,
  part: Part,
  earlier: Set<number>,
): Promise<Ran> {
  const { room, options } = running
  const { items } = part
  if (!items.length) return { part, outcomes: [] }
  const one_by_one = room.archived !== undefined
  const { after_create } = room.import
  const { tags } = options
  const without_owner = new Set(part.prepared.flatMap(({ item, is_unowned }) => (is_unowned ? [item] : [])))
  const how = { one_by_one, after_create, without_owner }
  const given = { atomic: false, on_match: onMatch(options), tags, ...how } as const
  const writes = writesOf(room) as Writes
  if (options.dry_run) await runEarlier(tx, running, context, writes, items, given, earlier)
  return { part, outcomes: await runBatch(tx, context, writes, items, given) }
}

const onMatch = ({ on_match }: ImportOptions) => (on_match === 'skip' ? 'skip' : 'update')

/** Stores the errors, the counters and the position after parts. */
function saveOutcomes(tx: Tx, { row, options }: Running, ran: readonly Ran[]): Promise<Progress> {
  const rows = ran.flatMap(({ part }) => part.rows)
  const outcomes = ran.flatMap((one) => one.outcomes)
  const blank = blankLinesOf(rows)
  const unread = linesOf(rows) - blank - outcomes.length
  const counts = countsOf(outcomes)
  const found = ran.flatMap((one) => {
    const imported = importedOf(one, onMatch(options))
    const kept_notes = one.part.notes.filter((note) => imported.has(note.row))
    return [...one.part.errors, ...kept_notes, ...errorsOf(one)]
  })
  found.sort((a, b) => a.row.number - b.row.number)
  return saveProgress(tx, row, rows, {
    ...counts,
    skipped: counts.skipped + blank,
    failed: unread + outcomes.filter(({ error }) => error).length,
    errors: keepErrors(tx, row, found),
    account: row.resource === 'workspace' ? row.account : accountOf(row, ran, options),
  })
}

/** The account of an import with the cells of parts. */
function accountOf({ account }: ImportRow, ran: readonly Ran[], { on_match, match }: ImportOptions): string {
  const rows = ran.flatMap(({ part: { prepared, refused }, outcomes }) => [
    ...refused.map(({ used }) => ({ ...used, left: 'row_failed' as const })),
    ...prepared.map(({ used }, n) => {
      const { error, status, keeps_match } = outcomes[n] as Outcome
      const is_skipped = on_match === 'skip' && status === 'unchanged'
      const left = error ? ('row_failed' as const) : is_skipped ? ('row_skipped' as const) : null
      return { ...(keeps_match ? withUse(used, [match as string], () => 'other_value') : used), left }
    }),
  ])
  return JSON.stringify(withRows(JSON.parse(account), rows))
}

/** The rows that became records. Of the others, nothing was imported without a link. */
const importedOf = ({ part: { prepared }, outcomes }: Ran, on_match: string) =>
  new Set(
    prepared.flatMap(({ row }, n) => {
      const { error, status } = outcomes[n] as Outcome
      return error || (on_match === 'skip' && status === 'unchanged') ? [] : [row]
    }),
  )

/** Rows that can be read, those that are refused with their errors, and notes on links that rows lose. */
type Read = {
  prepared: Prepared[]
  refused: { row: FileRow; used: UsedCells }[]
  errors: RowError[]
  notes: RowError[]
}

/** Makes items of rows, in parts that run one after the other. */
async function prepareRows(running: Running, rows: readonly FileRow[]): Promise<Part[]> {
  const errors: RowError[] = []
  const mapped = new Map<FileRow, MappedRow>()
  const { now } = running.context()
  let until_ms = performance.now() + read_ms
  for (const row of rows) {
    if (row.problem) errors.push({ row, field: '', ...row.problem })
    else if (!row.blank_lines) mapped.set(row, running.mapping.read(row, now))
    if (performance.now() < until_ms) continue
    await giveWay(running)
    until_ms = performance.now() + read_ms
  }
  const leaves = running.options.bad_cells === 'leave_out'
  const notes = await running.relink(running, mapped)
  for (const { row, field } of notes) {
    const read = mapped.get(row)
    if (read) read.used = withUse(read.used, [field], () => 'not_linked')
  }
  const linked = await linkNames(
    running,
    [...mapped.values()].filter(({ problems }) => problems.every((one) => leaves && isOfCell(one))),
  )
  const row_of = new Map([...mapped].map(([row, read]) => [read, row]))
  for (const { row, problem } of linked.notes) notes.push({ row: row_of.get(row) as FileRow, ...problem })
  const prepared: Prepared[] = []
  const refused: Read['refused'] = []
  for (const [row, read] of mapped) {
    const problem = linked.problems.get(read)
    let found = problem ? [...read.problems, problem] : read.problems
    if (leaves) {
      const { remaining, left } = leaveBadCells(running, read, found)
      found = remaining
      for (const one of left) notes.push({ row, ...one })
    }
    const { used } = read
    for (const one of found) errors.push({ row, ...one })
    if (found.length) refused.push({ row, used })
    else prepared.push({ row, item: itemOf(running, read), is_unowned: read.is_unowned === true, used })
  }
  return divided(rows, { prepared, refused, errors, notes }, paceOf(running).part_rows)
}

function divided(rows: readonly FileRow[], read: Read, length: number): Part[] {
  const parts: Part[] = []
  const parts_of = new Map<FileRow, Part>()
  let characters = max_part_characters
  for (const row of rows) {
    if (characters >= max_part_characters || parts.at(-1)?.rows.length === length) {
      parts.push({ rows: [], prepared: [], items: [], refused: [], errors: [], notes: [] })
      characters = 0
    }
    const part = parts.at(-1) as Part
    part.rows.push(row)
    parts_of.set(row, part)
    characters += charactersOf(row)
  }
  for (const one of read.prepared) {
    const part = parts_of.get(one.row)
    part?.prepared.push(one)
    part?.items.push(one.item)
  }
  for (const one of read.refused) parts_of.get(one.row)?.refused.push(one)
  for (const error of read.errors) parts_of.get(error.row)?.errors.push(error)
  for (const note of read.notes) parts_of.get(note.row)?.notes.push(note)
  return parts
}

const errorsOf = ({ part: { prepared }, outcomes }: Ran): RowError[] =>
  outcomes.flatMap(({ error }, n) => {
    const row = prepared[n]?.row
    return error && row ? problemsOf(error).map((problem) => ({ row, ...problem })) : []
  })

/** The ids that new records had in an archive. */
const sourcesOf = (ran: readonly Ran[]): Map<number, number> =>
  new Map(
    ran.flatMap(({ part: { prepared }, outcomes }) =>
      prepared.flatMap(({ row: { archived } }, n): [number, number][] => {
        const id = outcomes[n]?.id ?? null
        return archived && archived.id !== null && id !== null ? [[id, archived.id]] : []
      }),
    ),
  )

function countsOf(outcomes: readonly Outcome[]) {
  const counts = { created: 0, updated: 0, skipped: 0 }
  for (const { status } of outcomes) {
    if (status === 'created' || status === 'updated') counts[status]++
    else if (status === 'unchanged') counts.skipped++
  }
  return counts
}
