import { isDeepStrictEqual } from 'node:util'
import { checkBegun } from '../custom-fields/check.ts'
import { readDefinitions } from '../custom-fields/definitions.ts'
import { beginDefinition, completeDefinition } from '../custom-fields/operations.ts'
import { undoUnchecked } from '../custom-fields/queries.ts'
import { type CustomFieldBody, definitionSchemas } from '../custom-fields/schema.ts'
import { type Db, type Tx, transaction } from '../db/db.ts'
import { ApiError, conflict, refuse } from '../errors.ts'
import type { FileRow } from '../files/rows.ts'
import type { Schema } from '../http/schema-problems.ts'
import { bodyProblems, bodyValidator } from '../http/validation.ts'
import { keepErrors, type Problem, problemsOf } from './errors.ts'
import { nothing_done, type Progress, saveProgress } from './progress.ts'
import type { Running } from './rows.ts'
import { holdImport, holdLease } from './store.ts'

// The definitions of custom fields in an archive. Each is made as by a single request, in two transactions. From the
// first one on, an entry in import_changes names the definition by its row. So a definition that a crash interrupted is
// made again.

/** The kind of definitions, in an archive and in what an undo needs. */
export const definitions_kind = 'custom_fields'

/** Defines the custom fields of an archive. An equal definition is kept; another one of the same key is an error. */
export async function importDefinitions(running: Running, rows: readonly FileRow[]): Promise<void> {
  for (const row of rows) {
    if (!running.options.dry_run) await restart(running, row)
    Object.assign(running.row, await importOne(running, row))
  }
}

async function importOne(running: Running, row: FileRow): Promise<Progress> {
  if (row.blank_lines) return save(running, row, { skipped: row.blank_lines })
  if (row.problem) return save(running, row, { failed: 1 }, [{ field: '', ...row.problem }])
  try {
    const sent = Object.fromEntries(row.names.map((name, n) => [name, row.values[n]]))
    const resources = running.rooms.map(({ resource }) => resource)
    const schema = definitionSchemas(resources).CustomFieldCreate as unknown as Schema
    const body = bodyValidator(schema)(sent).value as CustomFieldBody
    refuse(bodyProblems(body))
    if (await isKept(running, body)) return await save(running, row, { skipped: 1 })
    if (running.options.dry_run) return await save(running, row, { created: 1 })
    return await define(running, row, body)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return await save(running, row, { failed: 1 }, problemsOf(error))
  }
}

/** Whether the workspace has an equal definition. Throws 409 for another one of the same key. */
async function isKept({ db, row: { workspace_id } }: Running, body: CustomFieldBody): Promise<boolean> {
  const { resource: kind = '', key, type, options = [], required = false, unique = false } = body
  const there = (await readDefinitions(db, { workspace_id, kind })).find((one) => one.key === key)
  if (!there) return false
  const form = [there.type, there.options, there.is_required, there.is_unique]
  if (isDeepStrictEqual(form, [type, options, required, unique])) return true
  throw conflict(
    'other_definition',
    `The ${kind} have another definition of ${key}, which is kept. Its type, options, required or unique differ.`,
  )
}

async function define(running: Running, row: FileRow, body: CustomFieldBody): Promise<Progress> {
  const { db, clock } = running
  const { workspace_id, id: import_id } = running.row
  // Once begun, a definition is completed, also if the person leaves meanwhile.
  const hold = (tx: Tx) => holdLease(tx, running.row, clock.elapsed())
  const begun = await transaction(db, async (tx) => {
    await holdImport(tx, running.row, clock)
    const context = running.context()
    const begun = await beginDefinition(tx, context, body, [])
    const entry = { workspace_id, import_id, kind: definitions_kind, record_id: begun.id }
    const made = { changed_at: context.now, before: null, source_id: row.number }
    await tx
      .insertInto('import_changes')
      .values({ ...entry, ...made })
      .execute()
    return begun
  })
  await checkBegun(db, clock, begun, { is_forced: false, hold })
  return transaction(db, async (tx) => {
    await hold(tx)
    await completeDefinition(tx, running.context(), begun)
    return saveProgress(tx, running.row, [row], { ...nothing_done, created: 1 })
  })
}

/** Takes back a definition of this row that a crash interrupted. */
async function restart(running: Running, row: FileRow): Promise<void> {
  const { db, clock } = running
  const { workspace_id } = running.row
  const [begun] = await entriesOf(db, running, row).execute()
  if (!begun) return
  await transaction(db, async (tx) => {
    await holdLease(tx, running.row, clock.elapsed())
    await undoUnchecked(tx, workspace_id, begun.record_id)
    await forgetEntry(tx, running, row)
  })
}

const entriesOf = (db: Db, { row: { workspace_id, id } }: Running, { number }: FileRow) =>
  db
    .selectFrom('import_changes')
    .select('record_id')
    .where((eb) => eb.and({ workspace_id, import_id: id, kind: definitions_kind, source_id: number }))

async function forgetEntry(tx: Tx, running: Running, row: FileRow): Promise<void> {
  const { workspace_id, id } = running.row
  const records = (await entriesOf(tx, running, row).execute()).map(({ record_id }) => record_id)
  if (!records.length) return
  await tx
    .deleteFrom('import_changes')
    .where((eb) => eb.and({ workspace_id, import_id: id, kind: definitions_kind }))
    .where('record_id', 'in', records)
    .execute()
}

/** Stores the counters and the position without a definition, and the error. */
const save = (
  running: Running,
  row: FileRow,
  counts: Partial<typeof nothing_done>,
  problems: readonly Problem[] = [],
): Promise<Progress> =>
  transaction(running.db, async (tx) => {
    await holdImport(tx, running.row, running.clock)
    if (problems.length) await forgetEntry(tx, running, row)
    const found = problems.map((problem) => ({ row, ...problem }))
    const errors = keepErrors(tx, running.row, found)
    return saveProgress(tx, running.row, [row], { ...nothing_done, ...counts, errors })
  })
