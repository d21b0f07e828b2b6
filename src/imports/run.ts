import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises'
import { type Clock, isoTime } from '../clock.ts'
import { readDefinitions } from '../custom-fields/definitions.ts'
import { type Db, transaction } from '../db/db.ts'
import { troubleOf } from '../db/errors.ts'
import { actorOf, namedActors } from '../events/actors.ts'
import { recordChange } from '../events/audit.ts'
import { contextOf } from '../events/context.ts'
import { notifyOfImport } from '../events/notify.ts'
import { charactersOf, FileError, type FileRow } from '../files/rows.ts'
import type { Room } from '../resources/room.ts'
import { archivedRows, openRows } from './archive.ts'
import { confirmLinks } from './confirm.ts'
import { createEarlierRows } from './earlier-rows.ts'
import { createMapping, type Mapping } from './mapping.ts'
import { ownTextsOf } from './own-texts.ts'
import { type ImportRoom, type Running, writtenRooms } from './rows.ts'
import { findSource, withoutReadings } from './source.ts'
import {
  AccessEnded,
  claimImport,
  endedOptions,
  forgetClaims,
  holdLease,
  type ImportRow,
  Lost,
  optionsOf,
  readFileRows,
  releaseImport,
  removeFile,
} from './store.ts'

type Deps = { db: Db; clock: Clock; rooms: readonly Room[]; stopping: AbortSignal }

// The number of imports, of different workspaces, that a process runs at once.
const max_at_once = 2
// A claim of another process takes a few milliseconds.
const claim_pause_ms = 20
// An import fails after this many claims without a committed row: it ends the process, or fails at one row.
const max_claims = 5

/**
 * Runs waiting imports until none is left. After an error, it waits for the other running import and then throws. So no
 * import runs outside of the job.
 */
export async function runImports(deps: Deps): Promise<void> {
  const work = async () => {
    while (!deps.stopping.aborted) {
      const row = await claimImport(deps.db, deps.clock.elapsed(), isoTime(deps.clock.now()))
      if (!row) return
      if (row === 'busy') {
        await pause(claim_pause_ms)
        continue
      }
      await runImport(deps, row)
    }
  }
  const ends = await Promise.allSettled(Array.from({ length: max_at_once }, work))
  for (const end of ends) if (end.status === 'rejected') throw end.reason
}

async function runImport(deps: Deps, row: ImportRow): Promise<void> {
  const running = await prepareRun(deps, row)
  try {
    if (row.claims > max_claims)
      return await finish(
        running,
        'failed',
        'The import failed several times at one row. The log has the error.',
      )
    if (row.resource !== 'workspace') running.mapping = await mappingOf(running)
    const importBatch = await openRows(running)
    for await (const rows of batchesOf(running)) {
      if (deps.stopping.aborted) return await releaseImport(deps.db, row, deps.clock.elapsed())
      await importBatch(rows)
      await turn()
    }
    await finish(running, 'succeeded', null)
  } catch (error) {
    if (error instanceof FileError || error instanceof AccessEnded)
      return await finish(running, 'failed', error.message)
    // Somebody cancelled the import, or another process has it.
    if (error instanceof Lost) return
    // Not the fault of a row.
    if (isRefusal(error)) await forgetClaims(deps.db, row).catch(() => {})
    throw error
  }
}

/** Whether the database refuses all work for now. A statement that takes too long may be the fault of its row. */
const isRefusal = (error: unknown) =>
  troubleOf(error) === 'unavailable' && (error as { code?: string }).code !== '57014'

/** An import whose file has not been looked at: its mapping is that of an archive. */
async function prepareRun({ db, clock, rooms }: Deps, row: ImportRow): Promise<Running> {
  const { workspace_id, created_by, request_id } = row
  const options = optionsOf(row)
  const [room] = writtenRooms(rooms, row.resource) as [ImportRoom]
  const [named] = await namedActors(db, workspace_id, [actorOf(created_by)])
  const actor = { ...actorOf(created_by), ...(named?.name && { name: named.name }) }
  return {
    db,
    clock,
    rooms,
    room,
    options,
    mapping: createMapping(room, options),
    row,
    definitions: [],
    earlier: createEarlierRows(options),
    relink: confirmLinks,
    context: () => contextOf(clock, { workspace_id, actor, request_id, traceparent: null, source: 'import' }),
    others_ran_ms: -Infinity,
  }
}

async function mappingOf(running: Running): Promise<Mapping> {
  const { db, row, room, options } = running
  const defined = await readDefinitions(db, { workspace_id: row.workspace_id, kind: room.resource.table })
  running.definitions = defined
  const source = await findSource(running, defined)
  return createMapping(room, options, defined, source, await ownTextsOf(db, row.workspace_id, room.import))
}

const max_rows = 1000
const max_characters = 1024 * 1024

/** Yields the rows after the last committed one, in batches that are prepared together. */
async function* batchesOf(running: Running): AsyncGenerator<FileRow[]> {
  let batch: FileRow[] = []
  let characters = 0
  for await (const rows of untilError(rowsOf(running))) {
    if (rows instanceof FileError) {
      // The rows before the error are imported.
      if (batch.length) yield batch
      throw rows
    }
    for (const one of rows) {
      const is_full = batch.length === max_rows || characters >= max_characters
      if (is_full || (batch.length && batch[0]?.archived?.kind !== one.archived?.kind)) {
        yield batch
        batch = []
        characters = 0
      }
      batch.push(one)
      characters += charactersOf(one)
    }
  }
  if (batch.length) yield batch
}

const rowsOf = (running: Running) =>
  running.row.resource === 'workspace' ? archivedRows(running) : readFileRows(running, running.row.last_row)

async function* untilError(rows: AsyncIterable<FileRow[]>): AsyncGenerator<FileRow[] | FileError> {
  try {
    yield* rows
  } catch (error) {
    if (!(error instanceof FileError)) throw error
    yield error
  }
}

/** Ends an import, with the entry in the audit log, and removes its file. */
async function finish(
  { db, clock, row, context }: Running,
  status: 'succeeded' | 'failed',
  message: string | null,
) {
  await transaction(db, async (tx) => {
    await holdLease(tx, row, clock.elapsed())
    const moment = context()
    const { resource, file_name, rows_read, created, updated, skipped, failed } = row
    await tx
      .updateTable('imports')
      // Headers of a file without a header row may be about a person. The account has them, which an erasure reaches.
      .set({
        status,
        message,
        finished_at: moment.now,
        source: withoutReadings(row.source),
        options: endedOptions(row),
      })
      .where('id', '=', row.id)
      .execute()
    const counts = { rows_read, created, updated, skipped, failed }
    const is_check = optionsOf(row).dry_run
    recordChange(tx, moment, {
      action: status === 'failed' ? 'failed' : is_check ? 'checked' : 'imported',
      kind: 'imports',
      record_id: row.id,
      after: { resource, file_name, ...counts, ...(message && { message }) },
    })
    notifyOfImport(tx, moment, { ...row, is_check }, status)
  })
  await removeFile(db, row)
}
