import { createView, deleteView } from '../across/views/operations.ts'
import { findMaker, listViews } from '../across/views/queries.ts'
import { type ViewFields, viewSchemas } from '../across/views/schema.ts'
import { type Db, type Tx, transaction } from '../db/db.ts'
import { ApiError, invalid, orNotFound, refuse } from '../errors.ts'
import { actorOf } from '../events/actors.ts'
import type { Context } from '../events/context.ts'
import type { FileRow } from '../files/rows.ts'
import type { Schema } from '../http/schema-problems.ts'
import { bodyProblems, bodyValidator } from '../http/validation.ts'
import { keepErrors, problemsOf, type RowError } from './errors.ts'
import { nothing_done, type Progress, saveProgress } from './progress.ts'
import type { Running } from './rows.ts'
import { holdImport } from './store.ts'

// The saved views in an archive come last, because their queries name records. Each is made as by a single request.
// import_changes names records by numbers: the entry of a view has the number of its row, and its id, a text, in `before`.

/** The kind of saved views, in an archive and in what an undo needs. */
export const views_kind = 'saved_views'

/** The ids of this workspace in place of those of the archive: of the records of a kind, and of members. */
export type NewIds = {
  records(db: Db, kind: string, ids: readonly number[]): Promise<ReadonlyMap<unknown, number>>
  members: ReadonlyMap<unknown, string>
}

/** A view of an archive. `maker` is the member who made it; null: nobody of this workspace. */
type Archived = ViewFields & { maker: string | null }

/** Saves the views of an archive. The workspace keeps a view that is equal, and gets no second one. */
export async function importViews(
  running: Running,
  rows: readonly FileRow[],
  new_ids: NewIds,
): Promise<void> {
  for (const row of rows) Object.assign(running.row, await importOne(running, row, new_ids))
}

const importOne = (running: Running, row: FileRow, new_ids: NewIds): Promise<Progress> =>
  transaction(running.db, async (tx) => {
    await holdImport(tx, running.row, running.clock)
    if (row.blank_lines)
      return saveProgress(tx, running.row, [row], { ...nothing_done, skipped: row.blank_lines })
    const errors: RowError[] = []
    const status = await saveView(tx, running, row, new_ids, errors)
    const kept = keepErrors(tx, running.row, errors)
    return saveProgress(tx, running.row, [row], { ...nothing_done, [status]: 1, errors: kept })
  })

async function saveView(
  tx: Tx,
  running: Running,
  row: FileRow,
  new_ids: NewIds,
  errors: RowError[],
): Promise<'created' | 'skipped' | 'failed'> {
  if (row.problem) {
    errors.push({ row, field: '', ...row.problem })
    return 'failed'
  }
  try {
    return await saveReadable(tx, running, row, new_ids, errors)
  } catch (error) {
    // Nothing is written before the checks.
    if (!(error instanceof ApiError)) throw error
    errors.push(...problemsOf(error).map((problem) => ({ row, ...problem })))
    return 'failed'
  }
}

async function saveReadable(
  tx: Tx,
  running: Running,
  row: FileRow,
  new_ids: NewIds,
  errors: RowError[],
): Promise<'created' | 'skipped'> {
  const { maker, ...view } = readView(running, row, new_ids)
  // A dry run makes no records that a query could name.
  if (!running.options.dry_run) view.query = await relinkQuery(tx, running, row, view, new_ids, errors)
  const { workspace_id, id: import_id } = running.row
  const there = await listViews(tx, workspace_id, actorOf(maker ?? 'service'), [view.list])
  const fields = ['name', 'query', 'visibility'] as const
  if (there.some((one) => fields.every((field) => one[field] === view[field]))) return 'skipped'
  if (running.options.dry_run) return 'created'
  const made = await createView(tx, running.context(), { body: view, problems: [] }, maker)
  const entry = { workspace_id, import_id, kind: views_kind, record_id: row.number }
  await tx
    .insertInto('import_changes')
    .values({ ...entry, changed_at: made.updated_at, before: made.id, source_id: null })
    .execute()
  return 'created'
}

function readView({ rooms }: Running, row: FileRow, { members }: NewIds): Archived {
  const { names, values } = row
  const { ViewCreate } = viewSchemas(rooms.map(({ resource }) => resource))
  const sent = Object.fromEntries(names.map((name, n) => [name, values[n]]))
  const body = bodyValidator(ViewCreate as unknown as Schema)(sent).value as ViewFields
  refuse(bodyProblems(body))
  const { list, name, query, visibility = 'shared' } = body
  const { id } = (sent.created_by ?? {}) as { id?: unknown }
  const maker = members.get(id) ?? null
  if (visibility === 'private' && maker === null)
    throw invalid([
      {
        field: 'created_by',
        code: 'not_found',
        message: 'The person who made this private view is not a member.',
      },
    ])
  return { list, name, query, visibility, maker }
}

/** The query with the ids of this workspace. It loses ids that the archive does not bring, and an error names them. */
async function relinkQuery(
  tx: Tx,
  { rooms }: Running,
  row: FileRow,
  { list, query }: ViewFields,
  { records, members }: NewIds,
  errors: RowError[],
): Promise<string> {
  const resource = rooms.find((room) => room.resource.table === list)?.resource
  // Deliveries are filtered by their webhook, and no archive brings webhooks.
  const references: Readonly<Record<string, string>> = resource?.references ?? { webhook_id: 'webhooks' }
  const parameters = new URLSearchParams(query)
  const before = parameters.toString()
  for (const [name, text] of [...parameters]) {
    const kind = references[name]
    if (kind === undefined && !resource?.members.includes(name)) continue
    const values = text.split(',')
    const ids = kind === undefined ? members : await records(tx, kind, values.map(idOf).map(Number))
    const kept = values.flatMap((value) => {
      const id = idOf(value)
      if (['', 'me', 'null'].includes(id)) return value
      const new_id = ids.get(kind === undefined ? id : Number(id))
      return new_id === undefined ? [] : value.replace(id, String(new_id))
    })
    if (kept.length) parameters.set(name, kept.join())
    else parameters.delete(name)
    if (kept.length < values.length)
      errors.push({
        row,
        field: 'query',
        code: 'not_in_archive',
        message: `The archive lacks some values of ${name}. The view is imported without them.`,
      })
  }
  const after = parameters.toString()
  return after === before ? query : after
}

/** A value of a filter, without the sign that leaves it out. */
const idOf = (value: string) => value.replace(/^!/, '')

/** Deletes a view that an import made, of any person. */
export async function undoView(
  tx: Tx,
  context: Context,
  view_id: string,
  expect: (view: object) => void,
): Promise<void> {
  const maker = orNotFound('saved view', await findMaker(tx, context.workspace_id, view_id))
  await deleteView(tx, context, { params: { view_id }, expect }, maker)
}
