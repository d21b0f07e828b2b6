import type { Db, Tx } from '../db/db.ts'
import { lockRow, lockText } from '../db/locks.ts'
import { addWork, dropWork } from '../db/work.ts'
import { conflict, type FieldProblem, orNotFound, refuse, refuseMore } from '../errors.ts'
import { auditSides, auditSnapshot, recordChange } from '../events/audit.ts'
import { changesBetween } from '../events/changes.ts'
import type { Context } from '../events/context.ts'
import { changesOf } from '../http/patch.ts'
import { lease_ms, type Unchecked } from './check.ts'
import { keyProblems, optionProblems } from './definition-rules.ts'
import {
  type Changeable,
  definedKeys,
  findDefinition,
  insertDefinition,
  updateDefinition,
} from './queries.ts'
import { type CustomField, type CustomFieldBody, type CustomFieldChange, max_definitions } from './schema.ts'

const changeable = ['label', 'options', 'required', 'unique', 'position'] as const
const fixed = ['resource', 'key', 'type'] as const

/** A definition between its first transaction and its last; `unchecked` if existing values are to be checked. */
export type Begun = { id: number; before: CustomField | null; unchecked: Unchecked | null }

const checkOf = (id: number) => ({ kind: 'custom_field', subject: String(id) }) as const
const entry = (action: string, record_id: number) => ({ action, kind: 'custom_fields', record_id })

const beingChecked = () =>
  conflict(
    'field_being_checked',
    'The existing values of this custom field are being checked. Try again later.',
  )

const existing = async (db: Db, workspace_id: number, id: number): Promise<CustomField> =>
  orNotFound('custom field', await findDefinition(db, workspace_id, id))

/** The columns of changed fields. */
const columnsOf = ({ label, options, required, unique, position }: CustomFieldChange): Changeable => ({
  ...(label !== undefined && { label }),
  ...(options !== undefined && { options: JSON.stringify(options) }),
  ...(required !== undefined && { is_required: required ? 1 : 0 }),
  ...(unique !== undefined && { is_unique: unique ? 1 : 0 }),
  ...(position !== undefined && { position }),
})

/** Adds a definition that new values obey from now on. Throws 409 if the resource has 100. */
export async function beginDefinition(
  tx: Tx,
  context: Context,
  body: CustomFieldBody,
  problems: readonly FieldProblem[],
): Promise<Begun> {
  const { workspace_id, now } = context
  const { resource = '', key = '', type = 'text' } = body
  const refused = new Set(problems.map(({ field }) => field.split('.')[0]))
  const more = refused.has('options') || refused.has('type') ? [] : optionProblems(body)
  refuse([...problems, ...keyProblems(body), ...more])
  // The lock makes the limit exact, and the key unique.
  await lockText(tx, 'field_definitions', workspace_id, resource)
  const { keys, being_checked, last } = await definedKeys(tx, workspace_id, resource)
  if (being_checked.has(key)) throw beingChecked()
  if (keys.has(key))
    refuse([{ field: 'key', code: 'taken', message: `key must be unique. The ${resource} have ${key}.` }])
  const limit = `A workspace has at most ${max_definitions} custom fields for ${resource}`
  refuseMore('too_many_fields', keys.size, max_definitions, limit, 'Delete one first.')
  const position = keys.size ? Math.min(last + 1, 10_000) : 0
  const { options = [], required = false, unique = false } = body
  const columns = columnsOf({
    label: key,
    position,
    ...body,
    options,
    required,
    unique,
  }) as Required<Changeable>
  const row = { kind: resource, key, type, ...columns }
  const id = await insertDefinition(tx, workspace_id, now, row)
  addWork(tx, context, { ...checkOf(id), lease_ms })
  const unchecked = {
    workspace_id,
    kind: resource,
    id,
    key,
    type,
    options,
    is_required: required,
    is_unique: unique,
  }
  return { id, before: null, unchecked }
}

/** Changes a definition. A change that existing values may break is checked before it is complete. */
export async function beginChange(
  tx: Tx,
  context: Context,
  id: number,
  body: CustomFieldChange,
  { problems, expect }: { problems: readonly FieldProblem[]; expect(record: object): void },
): Promise<Begun> {
  const { workspace_id, now } = context
  await lockRow(tx, 'field_definitions', workspace_id, id)
  const before = await existing(tx, workspace_id, id)
  expect(before)
  const changes = changesOf(body, before, [...changeable])
  const after = { ...before, ...changes } as CustomField
  const refused = problems.some(({ field }) => field.startsWith('options'))
  refuse([...problems, ...fixedProblems(body, before), ...(refused ? [] : optionProblems(after))])
  if (!Object.keys(changes).length) return { id, before, unchecked: null }
  const tightened =
    (after.unique && !before.unique) || before.options.some((option) => !after.options.includes(option))
  const columns = { ...columnsOf(changes), updated_at: now }
  const check = {
    status: 'changing',
    previous: JSON.stringify({ ...columnsOf(before), updated_at: before.updated_at }),
  } as const
  if (!(await updateDefinition(tx, workspace_id, id, { ...columns, ...(tightened && check) })))
    throw beingChecked()
  if (tightened) addWork(tx, context, { ...checkOf(id), lease_ms })
  const { resource: kind, key, type, options, required: is_required, unique: is_unique } = after
  return {
    id,
    before,
    unchecked: tightened ? { workspace_id, kind, id, key, type, options, is_required, is_unique } : null,
  }
}

const fixedProblems = (body: CustomFieldChange, before: CustomField): FieldProblem[] =>
  fixed.flatMap((field) =>
    body[field] === undefined || body[field] === before[field]
      ? []
      : [
          {
            field,
            code: 'not_changeable',
            message: `${field} cannot change. Delete the custom field, which keeps the values, and create another one.`,
          },
        ],
  )

/** Completes a definition, with the audit entry; returns it. */
export async function completeDefinition(
  tx: Tx,
  context: Context,
  { id, before, unchecked }: Begun,
): Promise<CustomField> {
  const { workspace_id } = context
  if (unchecked) {
    const ready = { status: 'ready', previous: null } as const
    if (!(await updateDefinition(tx, workspace_id, id, ready, ['new', 'changing'])))
      throw conflict('field_check_timeout', 'The check of the existing values took too long. Try again.')
    await dropWork(tx, workspace_id, 'custom_field', String(id))
  }
  const after = await existing(tx, workspace_id, id)
  if (!before) recordChange(tx, context, { ...entry('created', id), after: auditSnapshot(after) })
  const changes = before && changesBetween(before, after, changeable)
  if (changes) recordChange(tx, context, { ...entry('updated', id), ...auditSides(changes, after) })
  return after
}

/** Deletes a definition. The values stay in the records. */
export async function deleteDefinition(
  tx: Tx,
  context: Context,
  id: number,
  expect: (record: object) => void,
): Promise<void> {
  const { workspace_id } = context
  await lockRow(tx, 'field_definitions', workspace_id, id)
  const before = await existing(tx, workspace_id, id)
  expect(before)
  await updateDefinition(tx, workspace_id, id, { status: 'removed', previous: null }, ['ready', 'changing'])
  await dropWork(tx, workspace_id, 'custom_field', String(id))
  addWork(tx, context, { ...checkOf(id), state: 'removing' })
  recordChange(tx, context, { ...entry('deleted', id), before: auditSnapshot(before) })
}
