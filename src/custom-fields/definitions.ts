import { sql } from 'kysely'
import { type Db, Tx } from '../db/db.ts'
import { Overtaken } from '../db/errors.ts'
import { shareDefinitions } from '../db/locks.ts'
import { prepare } from '../db/statements/prepare.ts'
import { type FieldProblem, refuse } from '../errors.ts'
import type { Context } from '../events/context.ts'
import type { CustomFields } from '../http/fields.ts'
import type { Resource } from '../resources/resource.ts'
import {
  addUniqueValues,
  definedValues,
  findHolder,
  insertDefinedValues,
  removeDefinedValues,
  sortValue,
} from './defined-values.ts'
import { changedDefinitions, customValue, type Definition } from './definition-rules.ts'

// The definitions of custom fields, as writes and lists use them. routes.ts has their endpoints.

// As the partial index has it.
const in_force = sql<boolean>`status <> 'removed'`
const read = prepare((p: { workspace_id: number; kind: string }, db) =>
  db
    .selectFrom('field_definitions')
    .select(['id', 'key', 'label', 'type', 'options', 'is_required', 'is_unique'])
    .where((eb) => eb.and({ workspace_id: p.workspace_id, kind: p.kind }))
    .where(in_force)
    .orderBy('key'),
)

type Key = { workspace_id: number; kind: string }

/** The definitions of a resource's custom fields, without the lock of a write. */
export async function readDefinitions(db: Db, key: Key): Promise<Definition[]> {
  const rows = await read(db, key)
  return rows.map(({ is_required, is_unique, options, ...row }) => ({
    ...row,
    is_required: is_required === 1,
    is_unique: is_unique === 1,
    // Most writes do not choose among options.
    get options(): readonly string[] {
      return JSON.parse(options)
    },
  }))
}

/** Whether its records have custom fields, which a workspace can define. */
export const hasDefinitions = ({ columns, part_of }: Resource): boolean =>
  'custom_fields' in columns && !part_of

const nameOf = (workspace_id: number, { table }: Resource) => `definitions ${workspace_id} ${table}`

/** Whether this transaction has read the definitions already, or reads them now. */
export const hasReadDefinitions = (tx: Tx, workspace_id: number, resource: Resource): boolean =>
  tx.peek(nameOf(workspace_id, resource)) !== undefined

/**
 * The definitions that hold for the records of a resource, also those whose existing values are still being checked. A
 * transaction reads them once, and the check of a new definition waits for its end. So each write either obeys a definition,
 * or is checked as an existing value.
 */
export function definitionsOf(db: Db, workspace_id: number, resource: Resource): Promise<Definition[]> {
  if (!hasDefinitions(resource)) return Promise.resolve([])
  const key = { workspace_id, kind: resource.table }
  if (!(db instanceof Tx)) return readDefinitions(db, key)
  return db.once(nameOf(workspace_id, resource), (tx) => {
    // A statement of its own: the read must begin after the lock is held.
    tx.defer(shareDefinitions(tx, workspace_id))
    const found = readDefinitions(tx, key)
    tx.defer(found)
    return found
  })
}

/** For whom a write is: the workspace, the author, and the scopes. */
export type Who = Pick<Context, 'workspace_id' | 'actor' | 'scopes'>
type Place = { resource: Resource; id: number }

/** Stores the defined values of a new record. Returns the problems of values that are taken. */
export async function addDefined(
  tx: Tx,
  context: Who,
  place: Place,
  values: CustomFields,
): Promise<FieldProblem[]> {
  const definitions = await definitionsOf(tx, context.workspace_id, place.resource)
  return problemsOf(tx, context, place, values, await store(tx, context, place, definitions, values))
}

/**
 * Stores the defined values that differ from those that the lists have, after takenProblems found none. Throws if a
 * concurrent transaction has taken one since: then `transaction` runs the work again, and takenProblems finds it.
 */
export async function changeDefined(
  tx: Tx,
  context: Who,
  place: Place,
  before: CustomFields,
  after: CustomFields,
): Promise<void> {
  const { workspace_id } = context
  const definitions = changedDefinitions(await definitionsOf(tx, workspace_id, place.resource), before, after)
  if (!definitions.length) return
  const old = definitions.map(({ id }) => ({ workspace_id, definition_id: id, record_id: place.id }))
  // Not collected: in bulk, it would come after the insert.
  tx.defer(removeDefinedValues(tx, old))
  const refused = await store(tx, context, place, definitions, after)
  if (!refused.length) return
  // Items of a batch that run together take values from each other. Such an item fails.
  if (tx.root !== tx) refuse(await problemsOf(tx, context, place, after, refused))
  throw new Overtaken('Another transaction has taken a unique value.')
}

/** The problems of unique values that another record has. Without `before`, all values of the record are new. */
export async function takenProblems(
  tx: Tx,
  context: Who,
  place: Place,
  before: CustomFields,
  after: CustomFields,
): Promise<FieldProblem[]> {
  const definitions = await definitionsOf(tx, context.workspace_id, place.resource)
  const unique = definitions.filter(({ is_unique }) => is_unique)
  return problemsOf(tx, context, place, after, changedDefinitions(unique, before, after))
}

/** Stores values. Returns the definitions whose value is taken. Only unique values are waited for. */
async function store(
  tx: Tx,
  { workspace_id }: Who,
  { id }: Place,
  definitions: readonly Definition[],
  values: CustomFields,
): Promise<Definition[]> {
  const rows = definedValues(definitions, workspace_id, id, values)
  const unique = rows.filter(({ unique_value }) => unique_value !== null)
  tx.rows(
    insertDefinedValues,
    rows.filter(({ unique_value }) => unique_value === null),
  )
  if (!unique.length) return []
  const added = new Set((await addUniqueValues(tx, unique)).map(({ definition_id }) => definition_id))
  const refused = new Set(unique.map(({ definition_id }) => definition_id).filter((one) => !added.has(one)))
  return definitions.filter((definition) => refused.has(definition.id))
}

/** The problems of those values that another record has. */
async function problemsOf(
  tx: Tx,
  context: Who,
  { resource, id }: Place,
  values: CustomFields,
  definitions: readonly Definition[],
): Promise<FieldProblem[]> {
  const problems = await Promise.all(
    definitions.map(async (definition) => {
      const value = customValue(values, definition.key)
      if (sortValue(definition.type, value) === null) return []
      const holder = await findHolder(tx, context.workspace_id, definition, value)
      return holder === null || holder === id ? [] : takenProblem(context, resource, definition.key, holder)
    }),
  )
  return problems.flat()
}

/** The problem of a value that another record has. It names the record to a caller who may read it. */
function takenProblem(
  { scopes }: Who,
  { noun, scope }: Resource,
  key: string,
  record_id: number,
): FieldProblem {
  const field = `custom_fields.${key}`
  const may_read = !scopes || scopes.includes(`${scope}:read`)
  const other = may_read ? `The ${noun} ${record_id}` : `Another ${noun}`
  return { field, code: 'taken', message: `${field} must be unique. ${other} has this value.` }
}
