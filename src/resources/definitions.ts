import { sql } from 'kysely'
import type { Db } from '../db/db.ts'
import {
  type DefinedValue,
  definedValues,
  findHolder,
  insertDefinedValues,
  removeDefinedValues,
  type ValuedBy,
} from '../db/lists/defined-values.ts'
import { shareDefinitions } from '../db/locks.ts'
import { deferRows, rootOf } from '../db/statements/bulk.ts'
import { defer, prepare } from '../db/statements/prepare.ts'
import type { FieldProblem } from '../errors.ts'
import type { Context } from '../events/context.ts'
import type { CustomFields } from '../http/fields.ts'
import { changedDefinitions, type Definition } from './definition-rules.ts'
import type { Resource } from './resource.ts'

// The definitions of custom fields, as writes and lists use them. across/custom-fields/ has their endpoints.

// As the partial index has it.
const in_force = sql<boolean>`status <> 'removed'`
const read = prepare((db, p: { workspace_id: number; kind: string }) =>
  db
    .selectFrom('field_definitions')
    .select(['id', 'key', 'type', 'options', 'is_required', 'is_unique'])
    .where('workspace_id', '=', p.workspace_id)
    .where('kind', '=', p.kind)
    .where(in_force)
    .orderBy('key'),
)

type Key = { workspace_id: number; kind: string }

async function readDefinitions(db: Db, key: Key): Promise<Definition[]> {
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

const known = new WeakMap<Db, Map<string, Promise<Definition[]>>>()
const nameOf = (workspace_id: number, { table }: Resource) => `${workspace_id} ${table}`

/** Whether this transaction has read the definitions already, or reads them now. */
export const hasReadDefinitions = (tx: Db, workspace_id: number, resource: Resource): boolean =>
  known.get(rootOf(tx))?.has(nameOf(workspace_id, resource)) ?? false

/**
 * The definitions that hold for the records of a resource, also those whose existing values are still being checked. A
 * transaction reads them once, and holds off a new definition until its end: so each write either obeys a definition, or
 * is checked as an existing value.
 */
export function definitionsOf(db: Db, workspace_id: number, resource: Resource): Promise<Definition[]> {
  if (!hasDefinitions(resource)) return Promise.resolve([])
  const { table: kind } = resource
  if (!db.isTransaction) return readDefinitions(db, { workspace_id, kind })
  // All items of a batch share the read.
  const tx = rootOf(db)
  let of_transaction = known.get(tx)
  if (!of_transaction) {
    of_transaction = new Map()
    known.set(tx, of_transaction)
  }
  const name = nameOf(workspace_id, resource)
  let found = of_transaction.get(name)
  if (!found) {
    // A statement of its own: the read must begin after the lock is held.
    defer(tx, shareDefinitions(tx, workspace_id))
    found = readDefinitions(tx, { workspace_id, kind })
    defer(tx, found)
    of_transaction.set(name, found)
  }
  return found
}

type Place = { resource: Resource; id: number }

/** Stores the defined values of a record that had none in the lists. Returns the problems of values that are taken. */
export async function addDefined(
  tx: Db,
  context: Context,
  { resource, id }: Place,
  values: CustomFields,
): Promise<FieldProblem[]> {
  const definitions = await definitionsOf(tx, context.workspace_id, resource)
  return store(
    tx,
    context,
    resource,
    definitions,
    values,
    definedValues(definitions, context.workspace_id, id, values),
  )
}

/** Stores the defined values that differ. Returns the problems of values that are taken. */
export async function changeDefined(
  tx: Db,
  context: Context,
  { resource, id }: Place,
  before: CustomFields,
  after: CustomFields,
): Promise<FieldProblem[]> {
  const { workspace_id } = context
  const definitions = changedDefinitions(await definitionsOf(tx, workspace_id, resource), before, after)
  if (!definitions.length) return []
  const old = definitions.map((definition) => ({ workspace_id, definition_id: definition.id, record_id: id }))
  // Not with the rows of other items: in bulk, it would come after the insert.
  defer(tx, removeDefinedValues(tx, old))
  return store(tx, context, resource, definitions, after, definedValues(definitions, workspace_id, id, after))
}

// Only unique values can be refused, so other rows are not waited for.
async function store(
  tx: Db,
  context: Context,
  resource: Resource,
  definitions: readonly Definition[],
  values: CustomFields,
  rows: readonly DefinedValue[],
): Promise<FieldProblem[]> {
  const [plain, unique] = [
    rows.filter(({ unique_value }) => unique_value === null),
    rows.filter(({ unique_value }) => unique_value !== null),
  ]
  deferRows(tx, insertDefinedValues, plain)
  if (!unique.length) return []
  const added = new Set((await insertDefinedValues(tx, unique)).map(({ definition_id }) => definition_id))
  const refused = unique.filter(({ definition_id }) => !added.has(definition_id))
  return Promise.all(
    refused.map(async ({ definition_id }) => {
      const definition = definitions.find(({ id }) => id === definition_id) as Definition
      return takenProblem(context, resource, definition.key, await holderOf(tx, context, definition, values))
    }),
  )
}

const holderOf = (tx: Db, { workspace_id }: Context, definition: ValuedBy, values: CustomFields) =>
  findHolder(tx, workspace_id, definition, values[definition.key])

/** The problem of a value that another record has. It names the record to a caller who may read it. */
function takenProblem(
  { scopes }: Context,
  { noun, scope }: Resource,
  key: string,
  record_id: number | null,
): FieldProblem {
  const field = `custom_fields.${key}`
  const may_read = !scopes || scopes.includes(`${scope}:read`)
  const other = may_read && record_id !== null ? `The ${noun} ${record_id}` : `Another ${noun}`
  return { field, code: 'taken', message: `${field} must be unique. ${other} has this value.` }
}

/** What a custom field identifies: a record, nothing, or no record ever, because the field is not unique. */
export type UniqueMatch = { id: number | null } | 'not_unique'

/** The live record of a resource with this value of a unique custom field, for upserts. */
export async function findByUniqueField(
  db: Db,
  workspace_id: number,
  resource: Resource,
  key: string,
  value: unknown,
): Promise<UniqueMatch> {
  const definitions = await definitionsOf(db, workspace_id, resource)
  const definition = definitions.find((one) => one.key === key && one.is_unique)
  return definition ? { id: await findHolder(db, workspace_id, definition, value) } : 'not_unique'
}
