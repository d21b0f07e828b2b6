import { isDeepStrictEqual } from 'node:util'
import { definitionProblems } from '../../custom-fields/definition-rules.ts'
import {
  definitionsOf,
  hasReadDefinitions,
  takenProblems,
  type Who,
} from '../../custom-fields/definitions.ts'
import type { Tx } from '../../db/db.ts'
import { referenceProblems } from '../../db/references.ts'
import { prepareById } from '../../db/statements/bulk.ts'
import { perKey } from '../../db/statements/prepare.ts'
import type { FieldProblem } from '../../errors.ts'
import type { CustomFields } from '../../http/fields.ts'
import type { Columns, Resource, Values } from '../resource.ts'
import { isExact } from '../values/decimal.ts'

type Fields = Record<string, unknown>

/**
 * The values of a new record: what the body has, or the default, which null means too. The default of a member is the
 * author, which addRecord knows. Custom fields that the schema refused are left out here and below: they may have any size.
 */
export function newValues<C extends Columns>(
  { columns, writable, members }: Resource<C>,
  body: object,
  problems: readonly FieldProblem[] = [],
): Values<C> {
  const sent = body as Fields
  const values: Fields = {}
  for (const name of writable) values[name] = withoutMinusZero(sent[name]) ?? columns[name]?.default ?? null
  for (const name of members) values[name] = sent[name]
  if ('custom_fields' in values) values.custom_fields = customFieldsOf(body, {}, problems) ?? refused_fields
  return values as Values<C>
}

/**
 * The fields of a body that differ from the answer of GET. So a client can send an edited answer of GET: a reference
 * that reads null because its record is in the trash stays. Custom fields are merged key by key (contract: reading and
 * writing).
 */
export function changedValues<C extends Columns>(
  { columns, writable }: Resource<C>,
  body: object,
  before: object,
  problems: readonly FieldProblem[] = [],
): Partial<Values<C>> {
  const sent = body as Fields
  const shown = before as Fields
  const changes: Fields = {}
  for (const name of writable) {
    if (sent[name] === undefined) continue
    const value =
      name === 'custom_fields'
        ? customFieldsOf(body, before, problems)
        : (withoutMinusZero(sent[name]) ?? columns[name]?.default ?? null)
    if (value !== undefined && !isDeepStrictEqual(value, shown[name])) changes[name] = value
  }
  return changes as Partial<Values<C>>
}

// JSON has a -0, which equals 0 but is another value to a comparison.
const withoutMinusZero = (value: unknown): unknown => (value === 0 ? 0 : value)

/** Stands for the custom fields of a new record that the schema refused. */
const refused_fields: CustomFields = Object.freeze({})

type WithCustomFields = { custom_fields?: CustomFields | null }

/** The custom fields of a record after a write; undefined where the schema refused them. */
function customFieldsOf(body: WithCustomFields, before: WithCustomFields, problems: readonly FieldProblem[]) {
  if (problems.some(({ field }) => /^custom_fields(\.|$)/.test(field))) return undefined
  return mergeCustomFields(before.custom_fields ?? {}, body.custom_fields ?? null)
}

type Known = {
  /** The other problems of the write. */
  problems: readonly FieldProblem[]
  /** Null for a new record. */
  before: object | null
}

/**
 * The problems that schemas do not find: too many decimals of an amount, references to missing records, too large custom
 * fields, and values that a definition refuses. Live references stay locked against deletion until the transaction ends.
 * The values of a new record that has no other problem may be left to addRecord: so PostgreSQL gets the insert without
 * waiting for the definitions.
 */
export async function valueProblems(
  tx: Tx,
  who: Who,
  resource: Resource,
  values: object,
  { problems, before }: Known,
): Promise<FieldProblem[]> {
  const { custom_fields } = values as { custom_fields?: CustomFields }
  const stored = before as { id: number; custom_fields?: CustomFields } | null
  const { workspace_id } = who
  const found = [
    ...customFieldsProblems(custom_fields, stored?.custom_fields),
    ...precisionProblems(resource, values),
    ...(await memberProblems(tx, workspace_id, resource, values)),
    ...(await referenceProblems(tx, workspace_id, values, resource.references)),
  ]
  if (!custom_fields || custom_fields === refused_fields) return found
  const is_read = hasReadDefinitions(tx, workspace_id, resource)
  const is_refused = problems.length + found.length > 0
  if (!stored && !is_refused && !is_read) return found
  const old = stored && (stored.custom_fields ?? {})
  found.push(...(await definedProblems(tx, who, resource, custom_fields, old)))
  // The insert of a new record finds these without a further read.
  if (stored || is_refused) {
    const place = { resource, id: stored?.id ?? 0 }
    found.push(...(await takenProblems(tx, who, place, old ?? {}, custom_fields)))
  }
  return found
}

/** The problems of custom fields that a definition refuses. `before` is null for a new record. */
export async function definedProblems(
  tx: Tx,
  { workspace_id, actor }: Who,
  resource: Resource,
  custom_fields: CustomFields,
  before: CustomFields | null,
): Promise<FieldProblem[]> {
  const definitions = await definitionsOf(tx, workspace_id, resource)
  return definitionProblems(definitions, custom_fields, before, actor.kind === 'visitor')
}

type Member = { workspace_id: number; id: string }
const member = prepareById<Member, { id: string }>(
  (is, p, db) =>
    db
      .selectFrom('memberships')
      .select('user_id as id')
      .where('workspace_id', '=', p.workspace_id)
      .where(is('user_id')),
  { type: 'text' },
)

/** Problems of fields that name a member of the workspace. */
async function memberProblems(
  tx: Tx,
  workspace_id: number,
  { members }: Resource,
  values: object,
): Promise<FieldProblem[]> {
  const problems: FieldProblem[] = []
  for (const field of members) {
    const id = (values as Fields)[field]
    // PostgreSQL takes no NUL, which is a problem of the text already.
    if (typeof id !== 'string' || id.includes('\0') || (await member(tx, { workspace_id, id }))) continue
    problems.push({
      field,
      code: 'not_found',
      message: `${field} must be the id of an active member.`,
    })
  }
  return problems
}

/** Problems of amounts that would be rounded when they are stored. */
function precisionProblems(resource: Resource, values: object): FieldProblem[] {
  const problems: FieldProblem[] = []
  for (const field of amountsOf(resource)) {
    const value = (values as Fields)[field]
    if (typeof value === 'number' && !isExact(value))
      problems.push({ field, code: 'too_precise', message: `${field} must have at most 4 decimals.` })
  }
  return problems
}

const amountsOf = perKey(({ columns }: Resource) =>
  Object.keys(columns).filter((field) => columns[field]?.encoding === 'ten_thousandths'),
)

/** Custom fields merged key by key: null removes a key, and null in place of the object removes all. */
function mergeCustomFields(current: CustomFields, sent: CustomFields | null): CustomFields {
  if (sent === null) return {}
  const merged = Object.entries({ ...current, ...sent }).filter(([, value]) => value !== null)
  return Object.fromEntries(merged.map(([key, value]) => [key, withoutMinusZero(value)])) as CustomFields
}

const max_custom_bytes = 64 * 1024

const jsonBytes = (fields: CustomFields) => Buffer.byteLength(JSON.stringify(fields))

/**
 * The size of all custom fields together, as they will be stored (contract: reading and writing). Earlier versions
 * accepted larger ones: a record that has such fields may keep their size, or become smaller in steps.
 */
export function customFieldsProblems(
  stored: CustomFields | null | undefined,
  before: CustomFields = {},
): FieldProblem[] {
  if (!stored) return []
  const field = 'custom_fields'
  if (Object.keys(stored).length > 100)
    return [{ field, code: 'too_many', message: `${field} must have at most 100 entries.` }]
  const bytes = jsonBytes(stored)
  if (bytes > max_custom_bytes && bytes > jsonBytes(before))
    return [{ field, code: 'too_large', message: `${field} must have at most 64 KiB as JSON.` }]
  return []
}
