import type { Tx } from '../../db/db.ts'
import { lockRow } from '../../db/locks.ts'
import { keepMergedValues, type MergedValue, mergedInto } from '../../db/merged.ts'
import { addWork } from '../../db/work.ts'
import { ApiError, conflict, type FieldProblem, mergedAway, notFound, refuse } from '../../errors.ts'
import { recordChange } from '../../events/audit.ts'
import type { Context } from '../../events/context.ts'
import { emit } from '../../events/emit.ts'
import { eventPrefix } from '../../resources/resource.ts'
import { type MergeKind, moveLinks, prepareEvents, unconditional } from './links.ts'
import { type Fields, planMerge, survivorChanges, type Wanted, wantedProblems } from './plan.ts'
import {
  insertMerge,
  lockMerge,
  type Merge,
  recordsOfMerge,
  sameMerge,
  unfinishedMerges,
  updateMerge,
  workOfMerge,
} from './state.ts'

// A merge first moves what refers to the merged records, in transactions of a limited time. The last transaction changes the
// survivor and moves the others to the trash. So each reference names a live record at any time.

/** How long a transaction of a merge moves records. Other writers wait for it on SQLite. */
export const step_ms = 5

export type MergeRequest = { survivor_id: number; from_ids: readonly number[]; wanted: Wanted }
type Sent = { problems: readonly FieldProblem[]; expect(record: object): void }

/**
 * Begins a merge. A merge of few linked records also ends here. A repeated request gets the merge that it began before.
 * Throws 404, 409, 412 and 422.
 */
export async function beginMerge(
  tx: Tx,
  context: Context,
  kind: MergeKind,
  { survivor_id, from_ids, wanted }: MergeRequest,
  { problems, expect }: Sent,
): Promise<Merge> {
  prepareEvents(tx, context, kind)
  const others = [...new Set(from_ids)]
  const merge = { kind: kind.resource.table, survivor_id, from_ids: others, wanted }
  await lockRecords(tx, context, kind, merge)
  const survivor = await findRecord(tx, context, kind, survivor_id)
  if (!survivor) throw await missing(tx, context, kind, survivor_id)
  // Before If-Match: the first request has changed the survivor (RFC 9110, 13.1.1).
  const repeated = others.length ? await sameMerge(tx, context, merge) : null
  if (repeated) return repeated
  expect(survivor)
  const found = await findAll(tx, context, kind, others)
  refuse([
    ...problems,
    ...idProblems(others, survivor_id, found),
    ...wantedProblems(kind.resource, wanted, [survivor_id, ...others]),
    ...planMerge(kind.resource, survivor, found, wanted).problems,
  ])
  await refuseUnfinished(tx, context, kind, [survivor_id, ...others])
  const begun = await insertMerge(tx, context, merge)
  if (!(await moveLinks(tx, context, kind, begun, performance.now() + step_ms))) {
    addWork(tx, context, workOfMerge(begun))
    return begun
  }
  return conclude(tx, context, kind, begun)
}

/** Continues a merge for one transaction. Throws 404 or 409 when the merge cannot be completed. */
export async function continueMerge(tx: Tx, context: Context, kind: MergeKind, id: number): Promise<Merge> {
  prepareEvents(tx, context, kind)
  const merge = await lockMerge(tx, context.workspace_id, id)
  if (merge.status !== 'running') return merge
  const { survivor_id } = merge
  if (!(await findRecord(tx, context, kind, survivor_id)))
    throw conflict(
      'merged_record_deleted',
      `The ${kind.resource.noun} ${survivor_id} was deleted during the merge.`,
    )
  if (!(await moveLinks(tx, context, kind, merge, performance.now() + step_ms))) return merge
  await lockRecords(tx, context, kind, merge)
  // From here, no record can start to refer to the merged ones.
  await moveLinks(tx, context, kind, merge, Number.POSITIVE_INFINITY)
  return conclude(tx, context, kind, merge)
}

/** Locks the rows of a merge's records, so that a concurrent merge waits, and a concurrent reference to them, too. */
export async function lockRecords(
  tx: Tx,
  { workspace_id }: Context,
  { resource }: MergeKind,
  merge: Pick<Merge, 'survivor_id' | 'from_ids'>,
): Promise<void> {
  for (const id of recordsOfMerge(merge)) await lockRow(tx, resource.table, workspace_id, id, 'removal')
}

/** A live record in the detail view, or null. */
export const findRecord = async (tx: Tx, { workspace_id }: Context, { details }: MergeKind, id: number) =>
  (await details.find(tx, workspace_id, id)) as Fields | null

async function findAll(tx: Tx, context: Context, kind: MergeKind, ids: readonly number[]): Promise<Fields[]> {
  const found: Fields[] = []
  for (const id of ids) {
    const record = await findRecord(tx, context, kind, id)
    if (record) found.push(record)
  }
  return found
}

async function missing(tx: Tx, { workspace_id }: Context, { resource }: MergeKind, id: number) {
  const what = `This ${resource.noun}`
  const into = await mergedInto(tx, workspace_id, resource.table, id)
  return into === null ? notFound(what) : mergedAway(what, into)
}

function idProblems(ids: readonly number[], survivor_id: number, found: readonly Fields[]): FieldProblem[] {
  const field = 'from_ids'
  if (ids.includes(survivor_id))
    return [{ field, code: 'unknown_value', message: `${field} must not have the id of the path.` }]
  const unknown = ids.filter((id) => !found.some((record) => record.id === id))
  if (!unknown.length) return []
  return [
    {
      field,
      code: 'not_found',
      message: `${field} must name existing records: ${unknown.join(', ')} cannot be found.`,
    },
  ]
}

async function refuseUnfinished(
  tx: Tx,
  { workspace_id }: Context,
  { resource }: MergeKind,
  ids: readonly number[],
): Promise<void> {
  for (const { id, record_ids } of await unfinishedMerges(tx, workspace_id, resource.table)) {
    const busy = ids.find((one) => record_ids.includes(one))
    if (busy !== undefined)
      throw conflict(
        'merge_running',
        `The ${resource.noun} ${busy} takes part in merge ${id}, which is not finished. Try again later.`,
        { record_id: busy, merge_id: id },
      )
  }
}

/** The last step: all records are locked, and nothing refers to the merged ones. */
async function conclude(tx: Tx, context: Context, kind: MergeKind, merge: Merge): Promise<Merge> {
  const { resource, operations } = kind
  const { workspace_id, survivor_id, id: merge_id, wanted } = merge
  const survivor = await findRecord(tx, context, kind, survivor_id)
  if (!survivor)
    throw conflict(
      'merged_record_deleted',
      `The ${resource.noun} ${survivor_id} was deleted during the merge.`,
    )
  // Somebody may have deleted one of them since the merge began. It stays in the trash.
  const others = await findAll(tx, context, kind, merge.from_ids)
  const { body, problems } = planMerge(resource, survivor, others, wanted)
  refuse(problems)
  // First the others go: a value that only one record may have becomes free.
  const away = { ...context, merge: { merged_into_id: survivor_id } }
  for (const other of others) {
    const { id } = other
    const record = { workspace_id, kind: resource.table, record_id: id }
    await keepMergedValues(tx, record, matchedValues(kind, other))
    await operations.remove(tx, away, id, () => {})
    await tx
      .insertInto('merged_records')
      .values({ workspace_id, kind: resource.table, record_id: id, merge_id, survivor_id })
      .execute()
  }
  const set = await changeSurvivor(tx, context, kind, merge, {
    survivor,
    body,
    from_ids: others.map(({ id }) => id),
  })
  const changes = JSON.stringify(survivorChanges(survivor, set))
  await updateMerge(tx, merge, { status: 'done', changes })
  return { ...merge, status: 'done', changes }
}

/** The values of fields by which an upsert finds a record. */
const matchedValues = ({ match }: MergeKind, record: Fields): MergedValue[] =>
  match.flatMap(({ field, keyOf }) => {
    const value = record[field]
    return typeof value === 'string' ? { field, value: keyOf(value) } : []
  })

type Taken = { survivor: Fields; body: Record<string, unknown>; from_ids: number[] }

/** Gives the survivor its values, with its event and audit entries. Returns the fields that were set. */
async function changeSurvivor(
  tx: Tx,
  context: Context,
  { resource, operations }: MergeKind,
  { id: merge_id, wanted }: Merge,
  { survivor, body, from_ids }: Taken,
): Promise<Record<string, unknown>> {
  const with_merged = { ...context, merge: { merged_from_ids: from_ids } }
  const change = (values: object) => operations.change(tx, with_merged, survivor.id, values, unconditional)
  const set = await changeAccepted(
    change,
    body,
    ({ field, code }) => code === 'not_found' && !(field in wanted),
  )
  if (!Object.keys(set).length) {
    const updated = resource.events.find(({ name }) => name === `${eventPrefix(resource)}.updated`)
    if (updated) await emit(tx, with_merged, updated, survivor, { changed_fields: [], previous: {} })
  }
  const after = { merge_id, merged_from_ids: from_ids }
  recordChange(tx, context, { action: 'merged', kind: resource.table, record_id: survivor.id, after })
  return set
}

/**
 * Changes a record, and leaves out values that the operation refuses for a reason that is accepted: a former member can no
 * longer be an owner. Returns the fields that were set. An operation refuses a change before it writes.
 */
export async function changeAccepted(
  change: (body: Record<string, unknown>) => Promise<unknown>,
  body: Record<string, unknown>,
  mayLeaveOut: (problem: FieldProblem) => boolean,
): Promise<Record<string, unknown>> {
  const set = { ...body }
  while (Object.keys(set).length)
    try {
      await change(set)
      break
    } catch (error) {
      const refused = (error instanceof ApiError && error.fields) || []
      const names = refused.map(({ field }) => field.split('.')[0] ?? '').filter((name) => name in set)
      if (!names.length || !refused.every(mayLeaveOut)) throw error
      for (const name of names) delete set[name]
    }
  return set
}
