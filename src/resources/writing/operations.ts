import { sql } from 'kysely'
import { forgetDefinedValues } from '../../custom-fields/defined-values.ts'
import {
  addDefined,
  changeDefined,
  definitionsOf,
  hasDefinitions,
  takenProblems,
} from '../../custom-fields/definitions.ts'
import type { Db, Tx } from '../../db/db.ts'
import type { Valued } from '../../db/lists/field-values.ts'
import { lockRow } from '../../db/locks.ts'
import { mergedInto, mergeOf } from '../../db/merged.ts'
import { deletedAt, moveRecord } from '../../db/records.ts'
import { conflict, type FieldProblem, mergedAway, notFound, refuse } from '../../errors.ts'
import { auditSides, recordChange } from '../../events/audit.ts'
import { changesBetween } from '../../events/changes.ts'
import type { Context } from '../../events/context.ts'
import type { Changes, EventDefinition } from '../../events/define.ts'
import { emit, prepareEmit } from '../../events/emit.ts'
import { notifyOwners } from '../../events/notify.ts'
import type { CustomFields } from '../../http/fields.ts'
import type { Resource } from '../resource.ts'
import { changedValues, definedProblems, newValues, valueProblems } from './input.ts'
import type { Records } from './records.ts'
import type { Row } from './selection.ts'

// The steps of an operation, all in the caller's transaction. Resources with their own rules combine them.
// standardOperations combines them for the others.

type Identified = { id: number }
type AnyRecords<View extends Identified> = Pick<Records<View, object>, 'resource' | 'find'>

/** Checks the record that a caller wants to change (If-Match). Throws 412 for another version. */
export type Expect = (record: object) => void

/** The schema's problems of a body, and the check of the record that it changes. */
export type Sent = { problems: readonly FieldProblem[]; expect: Expect }

/** A live record, or 404, which names the record into which it was merged. */
export async function existing<View>(
  db: Db,
  {
    resource,
    find,
  }: { resource: Resource; find(...key: Parameters<AnyRecords<never>['find']>): Promise<View | null> },
  workspace_id: number,
  id: number,
): Promise<View> {
  return (await find(db, workspace_id, id)) ?? refuseMissing(db, resource, workspace_id, id)
}

async function refuseMissing(
  db: Db,
  { table, noun, duplicates }: Resource,
  workspace_id: number,
  id: number,
): Promise<never> {
  const into = duplicates.length ? await mergedInto(db, workspace_id, table, id) : null
  throw into === null ? notFound(`This ${noun}`) : mergedAway(`This ${noun}`, into)
}

/** Refuses to restore a merged record by itself: its notes, deals and so on belong to another one. */
async function refuseMerged(
  tx: Tx,
  { table, noun, duplicates }: Resource,
  workspace_id: number,
  id: number,
): Promise<void> {
  const merge = duplicates.length ? await mergeOf(tx, workspace_id, table, id) : null
  if (merge)
    throw conflict(
      'merged_record',
      `This ${noun} was merged into ${merge.survivor_id}. Undo merge ${merge.merge_id} instead.`,
      merge,
    )
}

/** A live record, locked for a change in this transaction. 404 without one; throws when it is not as expected. */
export async function lockRecord<View extends Identified>(
  tx: Tx,
  { workspace_id }: Context,
  records: AnyRecords<View>,
  id: number,
  expect?: Expect,
  purpose?: 'removal',
): Promise<View> {
  const { table, events } = records.resource
  prepareEmit(tx, workspace_id, events)
  // The read is sent with the lock, and sees what the lock waited for.
  const [, record] = await Promise.all([
    lockRow(tx, table, workspace_id, id, purpose),
    existing(tx, records, workspace_id, id),
  ])
  expect?.(record)
  return record
}

/** A record as the audit log keeps it: without its id, its dates, embedded records, and fields that are null. */
function auditFacts({ tracked }: Resource, record: object): object {
  const values = record as Row
  const facts: Row = {}
  for (const name of tracked) if (values[name] !== null) facts[name] = values[name]
  return facts
}

/** Writes the audit entry of a created, deleted or restored record, with all its fields. */
export const auditRecord = (
  tx: Tx,
  context: Context,
  action: 'created' | 'deleted' | 'restored',
  resource: Resource,
  record: Identified,
) =>
  recordChange(tx, context, {
    action,
    kind: resource.table,
    record_id: record.id,
    [action === 'deleted' ? 'before' : 'after']: auditFacts(resource, record),
  })

/** The person who creates a record, for each field that names a member and that the body left out. */
function ownersOf({ members }: Resource, { actor }: Context, values: object): Row {
  const owners: Row = {}
  for (const name of members)
    if ((values as Row)[name] === undefined) owners[name] = actor.kind === 'person' ? actor.id : null
  return owners
}

const customFieldsOf = (values: object): CustomFields =>
  (values as { custom_fields?: CustomFields }).custom_fields ?? {}

/** Adds a record, with the audit entry; returns its detail view. `set` has the columns that no body sets. */
export async function addRecord<View extends Identified, Values extends object>(
  tx: Tx,
  context: Context,
  records: Records<View, Values>,
  values: Values,
  set?: Row,
): Promise<View> {
  const { resource } = records
  prepareEmit(tx, context.workspace_id, resource.events)
  const fields = customFieldsOf(values)
  // The insert is sent with the read of the definitions, and rolled back if they refuse a value.
  const [problems, record] = await Promise.all([
    definedProblems(tx, context, resource, fields, null),
    records.insert(tx, context, { ...values, ...ownersOf(resource, context, values) }, set),
  ])
  refuse(problems)
  refuse(await addDefined(tx, context, { resource, id: record.id }, fields))
  auditRecord(tx, context, 'created', resource, record)
  notifyOwners(tx, context, resource, null, record)
  return record
}

type SaveOptions = {
  /** The verb of the audit entry. */
  action?: string
  /** Columns that no body sets. */
  set?: Row
  /** false keeps updated_at, for a change that no view shows. */
  touch?: boolean
}

/**
 * Writes changed values of a locked record, with the audit entry. Returns the new record and the differences, null if no
 * view shows one.
 */
export async function saveChanges<View extends Identified, Values extends object>(
  tx: Tx,
  context: Context,
  records: Records<View, Values>,
  before: View,
  values: Partial<Values>,
  { action = 'updated', set = {}, touch = true }: SaveOptions = {},
): Promise<{ after: View; changes: Changes | null }> {
  if (!Object.keys(values).length && !Object.keys(set).length) return { after: before, changes: null }
  const { resource } = records
  const { table, tracked } = resource
  const after = await records.update(tx, context, before, values, { set, touch })
  if ('custom_fields' in values) {
    const [old, current] = [customFieldsOf(before), customFieldsOf(values)]
    await changeDefined(tx, context, { resource, id: before.id }, old, current)
  }
  const changes = changesBetween(before, after, tracked)
  if (changes) {
    const sides = auditSides(changes, after)
    recordChange(tx, context, { action, kind: table, record_id: after.id, ...sides })
    notifyOwners(tx, context, resource, before, after)
  }
  return { after, changes }
}

/** Moves a live record to the trash, with the audit entry; returns the record as it was. */
export async function moveToTrash<View extends Identified>(
  tx: Tx,
  context: Context,
  records: AnyRecords<View>,
  id: number,
  expect: Expect,
): Promise<View> {
  const { resource } = records
  const { table, noun, counted } = resource
  const record = await lockRecord(tx, context, records, id, expect, 'removal')
  if (!(await moveRecord(tx, table, counted, context.workspace_id, id, context.now)))
    throw notFound(`This ${noun}`)
  if (hasDefinitions(resource)) forgetDefinedValues(tx, context.workspace_id, table as Valued, id)
  auditRecord(tx, context, 'deleted', resource, record)
  return record
}

/**
 * Brings a record back from the trash, with the audit entry; `changes` is null for a record that was live already.
 * `hold` locks other rows that must not change until the commit.
 */
export async function moveFromTrash<View extends Identified>(
  tx: Tx,
  context: Context,
  records: AnyRecords<View>,
  id: number,
  { problems, expect }: Sent,
  hold?: (tx: Tx, workspace_id: number, id: number) => Promise<void>,
): Promise<{ record: View; changes: Changes | null }> {
  const { workspace_id } = context
  const { resource } = records
  const { table, noun, counted, events } = resource
  prepareEmit(tx, workspace_id, events)
  await lockRow(tx, table, workspace_id, id)
  await hold?.(tx, workspace_id, id)
  const live = await records.find(tx, workspace_id, id)
  if (live) {
    expect(live)
    return { record: live, changes: null }
  }
  const deleted_at = await deletedAt(tx, table, workspace_id, id)
  if (!deleted_at) throw notFound(`This ${noun}`)
  refuse(problems)
  await refuseMerged(tx, resource, workspace_id, id)
  await refuseTaken(tx, context, resource, id)
  const moved = await moveRecord(tx, table, counted, workspace_id, id, null)
  const record = await existing(tx, records, workspace_id, id)
  // A restore brings back the same record, so it has the entity tag of before.
  expect(record)
  if (!moved) return { record, changes: null }
  await changeDefined(tx, context, { resource, id }, {}, customFieldsOf(record))
  auditRecord(tx, context, 'restored', resource, record)
  return { record, changes: { changed_fields: ['deleted_at'], previous: { deleted_at } } }
}

/** Throws 409 before a restore if another record has a unique value of the record in the trash. */
async function refuseTaken(tx: Tx, context: Context, resource: Resource, id: number): Promise<void> {
  const definitions = await definitionsOf(tx, context.workspace_id, resource)
  if (!definitions.some(({ is_unique }) => is_unique)) return
  const { rows } = await sql<{ custom_fields: string }>`SELECT custom_fields FROM ${sql.table(resource.table)}
    WHERE workspace_id = ${context.workspace_id} AND id = ${id}`.execute(tx)
  const values = JSON.parse(rows[0]?.custom_fields ?? '{}')
  const [taken] = await takenProblems(tx, context, { resource, id }, {}, values)
  if (taken)
    throw conflict(
      'unique_value_taken',
      `${taken.message} Change or delete that one, then restore this one.`,
      { field: taken.field },
    )
}

// The operations of a resource. Each runs in the caller's transaction and returns the detail view.
export type Create<View, Body> = (
  tx: Tx,
  context: Context,
  body: Body,
  problems: readonly FieldProblem[],
) => Promise<View>
/** A change, or a verb such as complete. */
export type Change<View, Body> = (
  tx: Tx,
  context: Context,
  id: number,
  body: Body,
  sent: Sent,
) => Promise<View>
/** Moves a record to the trash; returns the record as it was. */
export type Remove<View> = (tx: Tx, context: Context, id: number, expect: Expect) => Promise<View>
/** Brings a record back from the trash. */
export type Restore<View> = (tx: Tx, context: Context, id: number, sent: Sent) => Promise<View>

/** A verb, such as complete: it locks the record, checks what the caller expects and sent, and runs the step. */
export const verbOf =
  <View extends Identified, Body>(
    records: AnyRecords<View>,
    step: (tx: Tx, context: Context, before: View, body: Body) => Promise<View>,
  ): Change<View, Body> =>
  async (tx, context, id, body, { problems, expect }) => {
    const before = await lockRecord(tx, context, records, id, expect)
    refuse(problems)
    return step(tx, context, before, body)
  }

/** The operations of a resource, for callers that do not name a resource. */
export type Operations<View> = {
  create: Create<View, object>
  change: Change<View, object>
  remove: Remove<View>
  restore: Restore<View>
}

type StandardEvents = { created?: EventDefinition; updated?: EventDefinition; deleted?: EventDefinition }

/** The operations of a resource without rules of its own. A restoration emits `updated`. Each event is optional. */
export function standardOperations<View extends Identified, Values extends object>(
  records: Records<View, Values>,
  { created, updated, deleted }: StandardEvents = {},
): Operations<View> {
  const { resource } = records
  return {
    async create(tx, context, body, problems) {
      prepareEmit(tx, context.workspace_id, [created])
      const values = newValues(resource, body, problems) as Values
      refuse([
        ...problems,
        ...(await valueProblems(tx, context, resource, values, { problems, before: null })),
      ])
      const record = await addRecord(tx, context, records, values)
      if (created) await emit(tx, context, created, record)
      return record
    },
    async change(tx, context, id, body, { problems, expect }) {
      prepareEmit(tx, context.workspace_id, [updated])
      const before = await lockRecord(tx, context, records, id, expect)
      const values = changedValues(resource, body, before, problems) as Partial<Values>
      refuse([...problems, ...(await valueProblems(tx, context, resource, values, { problems, before }))])
      const { after, changes } = await saveChanges(tx, context, records, before, values)
      if (changes && updated) await emit(tx, context, updated, after, changes)
      return after
    },
    async remove(tx, context, id, expect) {
      prepareEmit(tx, context.workspace_id, [deleted])
      const record = await moveToTrash(tx, context, records, id, expect)
      if (deleted) await emit(tx, context, deleted, record)
      return record
    },
    async restore(tx, context, id, sent) {
      prepareEmit(tx, context.workspace_id, [updated])
      const { record, changes } = await moveFromTrash(tx, context, records, id, sent)
      if (changes && updated) await emit(tx, context, updated, record, changes)
      return record
    },
  }
}
