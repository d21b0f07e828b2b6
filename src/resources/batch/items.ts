import { isDeepStrictEqual } from 'node:util'
import type { TSchema } from 'typebox'
import { uniqueValue } from '../../custom-fields/defined-values.ts'
import { type Definition, definitionProblems } from '../../custom-fields/definition-rules.ts'
import type { Tx } from '../../db/db.ts'
import { distinctTexts, sameText } from '../../db/lists/same-text.ts'
import { deletedAt } from '../../db/records.ts'
import { perKey } from '../../db/statements/prepare.ts'
import { type ApiError, type FieldProblem, invalid, refuse } from '../../errors.ts'
import type { Context } from '../../events/context.ts'
import { refuseStale } from '../../http/etag.ts'
import type { CustomFields } from '../../http/fields.ts'
import { type Schema, schemaProblems } from '../../http/schema-problems.ts'
import { bodyProblems, bodyValidator } from '../../http/validation.ts'
import type { Resource } from '../resource.ts'
import type { Room } from '../room.ts'
import { type Match, matchCustomField } from '../writing/match.ts'
import type { Operations } from '../writing/operations.ts'

// From the items of a batch to tasks: an item is checked like the body of a single request, and run by its operation.

/** The writes of a resource: its operations, their bodies, and how an upsert finds a record. */
export type Writes = {
  resource: Resource
  operations: Operations<{ id: number }>
} & NonNullable<Room['batch']>

/** The writes of a room; null if it has no batch. */
export const writesOf = ({ resource, operations, batch }: Room): Writes | null =>
  operations && batch ? { resource, operations, ...batch } : null

export const ops = ['create', 'update', 'upsert', 'delete', 'restore'] as const
export type Op = (typeof ops)[number]

/** An item as a client sends it. It is checked here, so it may have any form. */
export type Item = {
  op: Op
  id?: number
  if_match?: string | null
  match?: string
  data?: object
  add_tags?: string[]
  remove_tags?: string[]
}

/** The result of an item. */
export type Outcome = {
  index: number
  op: Op | null
  status: 'created' | 'updated' | 'unchanged' | 'deleted' | 'failed'
  id: number | null
  /** The detail view before and after; null where there is none. */
  before: object | null
  after: object | null
  /** Of the record after; only with `views: false`. */
  etag?: string | null
  error: ApiError | null
  /** Whether the fields of the error are those of the item, such as `id`, and not those of its data. */
  of_item?: boolean
  /** Whether the record keeps its own value of the matched field: it was found by that of a record merged into it. */
  keeps_match?: boolean
}

export const tags_choices = ['add', 'replace'] as const
export type TagsChoice = (typeof tags_choices)[number]

export type BatchOptions = {
  /** All items or none: throws 422 with the problems of all failing items. Otherwise each item fails for itself. */
  atomic: boolean
  /** The action of an upsert on the record that it finds. */
  on_match?: 'update' | 'skip'
  /** How the tags of an upsert join those of the record that it finds. By default they are added. */
  tags?: TagsChoice
  /** Items run one after the other, for rules that count the records of earlier items. */
  one_by_one?: boolean
  /** Upserts whose new record has no owner: the owner that they name is not a member. */
  without_owner?: ReadonlySet<Item>
  /** Fields that only an existing record takes. A new record gets them by a change of the same item. */
  after_create?: readonly string[] | undefined
  /** false drops the views of records as soon as their etag is known: they may have 128 MiB together. */
  views?: boolean
}

export type Done = Pick<Outcome, 'status'> & Partial<Pick<Outcome, 'id' | 'before' | 'after' | 'keeps_match'>>
type Upsert = { match: Match; key: string }
/** An item that is ready to run. */
export type Task = {
  index: number
  op: Op | null
  id: number | null
  /** Names the record. Two tasks of one record run in order. */
  record: string | null
  upsert: Upsert | null
  run(tx: Tx, matched: readonly number[]): Promise<Done>
  of_item?: boolean
}

/** Names the record of an upsert within a batch. */
export const recordOf = ({ match, key }: Upsert) => `${match.field}=${key}`

const data: Schema = { type: 'object' }
const id = { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER } as Schema
const op: Schema = { type: 'string' }
const if_match: Schema = { type: ['string', 'null'] }
const tags = { type: 'array', maxItems: 50, items: { type: 'string' } } as Schema
const formOf = (properties: Record<string, Schema>, required: string[]): Schema => ({
  type: 'object',
  properties: { op, ...properties },
  required,
  additionalProperties: false,
})
const forms: Record<Op, Schema> = {
  create: formOf({ data }, ['data']),
  update: formOf({ id, if_match, data, add_tags: tags, remove_tags: tags }, ['id', 'data']),
  upsert: formOf({ match: { type: 'string' }, data }, ['match', 'data']),
  delete: formOf({ id, if_match }, ['id']),
  restore: formOf({ id, if_match }, ['id']),
}

const isOp = (value: unknown): value is Op => ops.includes(value as Op)

function formProblems(item: unknown): FieldProblem[] {
  if (typeof item !== 'object' || item === null || Array.isArray(item))
    return [{ field: '', code: 'invalid_type', message: 'An item must be an object.' }]
  const { op } = item as { op?: unknown }
  if (op === undefined) return [{ field: 'op', code: 'required', message: 'op is required.' }]
  if (!isOp(op))
    return [{ field: 'op', code: 'unknown_value', message: `op must be one of ${ops.join(', ')}.` }]
  return schemaProblems(forms[op], item).map((problem) =>
    problem.code === 'unknown_field' ? { ...problem, message: unknownKey(op, problem.field) } : problem,
  )
}

/** Why an item may not have a key. */
function unknownKey(op: Op, key: string): string {
  if (op === 'upsert' && key === 'if_match')
    return 'if_match is not possible with upsert, which may create the record. Send an update with its id.'
  const keys = Object.keys(forms[op].properties ?? {}).join(', ')
  return `${key} is not a key of an item with op ${op}. Its keys are ${keys}.`
}

type For = {
  context: Context
  writes: Writes
  options: BatchOptions
  definitions: readonly Definition[]
}

/** The task of an item, which may have any form. A task of an invalid item fails. */
export function taskOf({ context, writes, options, definitions }: For, index: number, sent: unknown): Task {
  const { resource, operations, create, update } = writes
  const task = { index, op: null, id: null, record: null, upsert: null }
  const problems = formProblems(sent)
  if (problems.length) {
    const { op, id } = (sent ?? {}) as Record<string, unknown>
    const known = { op: isOp(op) ? op : null, id: Number.isSafeInteger(id) ? (id as number) : null }
    return { ...task, ...known, of_item: true, run: () => Promise.reject(invalid(problems)) }
  }
  const item = sent as Item
  const { op } = item
  const changing =
    (id: number, body: object, problems: readonly FieldProblem[], adjust = (_record: object) => {}) =>
    async (tx: Tx) => {
      let before: object | null = null
      const expect = (record: object) => {
        before = record
        refuseStale(item.if_match ?? undefined, record)
        adjust(record)
        // The record is locked, so no tag of another writer is lost.
        if (!refusesTags(problems))
          setTags(update, body, record, item, op === 'upsert' && options.tags !== 'replace')
      }
      const after = await operations.change(tx, context, id, body, { problems, expect })
      const is_same = after === before || isDeepStrictEqual(after, before)
      return { status: is_same ? 'unchanged' : 'updated', id, before, after } as const
    }
  const creating = async (tx: Tx) => {
    const data = options.without_owner?.has(item) ? { ...item.data, owner_id: null } : (item.data as object)
    const { first, later } = inSteps(data, options.after_create)
    const { body, problems } = checked(create, first)
    const made = await operations.create(tx, context, body, problems)
    if (!later) return { status: 'created', id: made.id, after: made } as const
    const { body: more, problems: wrong } = checked(update, later)
    const { after } = await changing(made.id, more, wrong)(tx)
    return { status: 'created', id: made.id, after } as const
  }

  if (op === 'create') return { ...task, op, run: creating }
  if (op === 'upsert') {
    const { match, problem, unique } = matchOf(writes, definitions, item.match as string)
    if (!match) return { ...task, op, of_item: true, run: () => Promise.reject(invalid([problem])) }
    // Tidied like the body of a change.
    const { body, problems } = checked(update, item.data as object)
    const value = unique ? uniqueIn(unique, body) : (body as Record<string, unknown>)[match.field]
    if (typeof value !== 'string' || problems.some(({ field }) => field === match.field)) {
      const wrong = unique ? uniqueProblems(unique, body) : []
      return {
        ...task,
        op,
        run: () => Promise.reject(invalid([...wrong, ...withoutMatch(match, create, item)])),
      }
    }
    const upsert = { match, key: match.keyOf(value) }
    return {
      ...task,
      op,
      upsert,
      record: recordOf(upsert),
      run: async (tx, [first, ...others]) => {
        if (first === undefined) return creating(tx)
        if (others.length) throw invalid([ambiguous(match.field, others.length + 1, resource.noun)])
        if (options.on_match === 'skip') return { status: 'unchanged', id: first }
        let keeps_match = false
        const done = await changing(first, body, problems, (record) => {
          const own = unique
            ? uniqueIn(unique, record)
            : (record as Record<string, string | null>)[match.field]
          keeps_match = typeof own !== 'string' || (unique ? own : match.keyOf(own)) !== upsert.key
          if (keeps_match) leaveOut(body, match.field)
        })(tx)
        return { ...done, keeps_match }
      },
    }
  }
  const target = item.id as number
  const known = { ...task, op, id: target, record: `id ${target}` }
  if (op === 'update') {
    const { body, problems } = checked(update, item.data as object)
    return { ...known, run: changing(target, body, problems) }
  }
  const expect = (record: object) => refuseStale(item.if_match ?? undefined, record)
  if (op === 'restore')
    return {
      ...known,
      run: async (tx) => {
        const was_deleted = await deletedAt(tx, resource.table, context.workspace_id, target)
        const after = await operations.restore(tx, context, target, { problems: [], expect })
        return { status: was_deleted ? 'updated' : 'unchanged', after }
      },
    }
  return {
    ...known,
    run: async (tx) => {
      const before = await operations.remove(tx, context, target, expect)
      return { status: 'deleted', before }
    },
  }
}

type Tagged = { tags?: string[] | null }

/** Removes a field from a body, which may be `custom_fields.KEY`. */
function leaveOut(body: object, field: string): void {
  const [name = '', key] = field.split(/\.(.*)/s)
  const fields = body as Record<string, unknown>
  if (key === undefined) delete fields[name]
  else
    fields[name] = Object.fromEntries(Object.entries(fields[name] as object).filter(([one]) => one !== key))
}

const refusesTags = (problems: readonly FieldProblem[]): boolean =>
  problems.some(({ field }) => /^tags\b/.test(field))

/** Adds the tags of a record to those of the body that changes it. */
export function addTags(
  schema: TSchema,
  body: object,
  record: object,
  problems: readonly FieldProblem[],
): void {
  if (!refusesTags(problems)) setTags(schema, body, record, {}, true)
}

/** Sets the tags in a body: those of it or of the record, or of both, without the removed ones, and with the added ones. */
function setTags(
  schema: TSchema,
  body: Tagged,
  record: Tagged,
  { add_tags = [], remove_tags = [] }: Pick<Item, 'add_tags' | 'remove_tags'>,
  both: boolean,
): void {
  if (!(both && 'tags' in body) && !add_tags.length && !remove_tags.length) return
  const removed = new Set(remove_tags.map(sameText))
  const own = record.tags ?? []
  const kept = both ? [...own, ...(body.tags ?? [])] : (body.tags ?? own)
  const tags = distinctTexts([
    ...kept.filter((tag) => !removed.has(sameText(tag))),
    ...add_tags.map((tag) => tag.trim()),
  ])
  refuse(checked(schema, { tags }).problems)
  body.tags = tags
}

/** Splits the data of a new record: the fields for the create, and those for the update after it. `later` is null without any. */
function inSteps(data: object, fields: readonly string[] = []) {
  const values = Object.entries(data)
  const isLater = ([name, value]: [string, unknown]) => fields.includes(name) && value !== null
  const later = values.filter(isLater)
  if (!later.length) return { first: data, later: null }
  return {
    first: Object.fromEntries(values.filter((one) => !isLater(one))),
    later: Object.fromEntries(later),
  }
}

const validatorOf = perKey((schema: TSchema) => bodyValidator(schema as Schema))

/** A body as the schema of a single request tidies and checks it. */
function checked(schema: TSchema, data: object): { body: object; problems: readonly FieldProblem[] } {
  const { value } = validatorOf(schema)({ ...data })
  return { body: value, problems: bodyProblems(value) }
}

/** The problems of new data. Records that it refers to are not looked at. */
export function newProblems(
  { create, update }: Pick<Writes, 'create' | 'update'>,
  definitions: readonly Definition[],
  data: object,
  after_create?: readonly string[],
): FieldProblem[] {
  const { first, later } = inSteps(data, after_create)
  const { body, problems } = checked(create, first)
  return [
    ...problems,
    ...(later ? checked(update, later).problems : []),
    ...definitionProblems(definitions, customFieldsOf(body), null),
  ]
}

/** The same, without those of missing values. */
export const valueProblems = (...given: Parameters<typeof newProblems>): FieldProblem[] =>
  newProblems(...given).filter(({ code }) => code !== 'required')

/** The keys of data that other data may have, too: of the matched field, and of unique custom fields. */
export function sharedKeys(
  writes: Writes,
  definitions: readonly Definition[],
  { match: name, data = {} }: Item,
): string[] {
  const { match, unique } = name === undefined ? {} : matchOf(writes, definitions, name)
  const { body } = checked(writes.update, data)
  const value = match && !unique ? (body as Record<string, unknown>)[match.field] : undefined
  return [
    ...(match && typeof value === 'string' ? [recordOf({ match, key: match.keyOf(value) })] : []),
    ...definitions.flatMap((one) => {
      const text = one.is_unique ? uniqueIn(one, body) : undefined
      return text === undefined ? [] : [`custom_fields.${one.key}=${text}`]
    }),
  ]
}

/** The problems of an upsert without a value to match. */
function withoutMatch({ field }: Match, create: TSchema, item: Item): FieldProblem[] {
  const { problems } = checked(create, item.data as object)
  if (problems.some((problem) => problem.field === field)) return [...problems]
  return [
    { field, code: 'required', message: `${field} is required: the upsert matches by it.` },
    ...problems,
  ]
}

const ambiguous = (field: string, count: number, noun: string): FieldProblem => ({
  field,
  code: 'ambiguous',
  message: `${count} records have this ${field}. Change one ${noun} by its id.`,
})

const customFieldsOf = (body: object): CustomFields =>
  (body as { custom_fields?: CustomFields | null }).custom_fields ?? {}

const uniqueProblems = (definition: Definition, body: object): FieldProblem[] =>
  definitionProblems([{ ...definition, is_required: true }], customFieldsOf(body), null)

/** The text that a unique field compares; undefined without a valid value. */
function uniqueIn(definition: Definition, body: object): string | undefined {
  if (uniqueProblems(definition, body).length) return undefined
  return uniqueValue(definition.type, customFieldsOf(body)[definition.key])
}

type Found =
  | { match: Match; unique?: Definition; problem?: never }
  | { match?: never; unique?: never; problem: FieldProblem }

/** The field of a name by which an upsert finds its record, or the problem with the name. */
export function matchOf(
  { match, resource }: Pick<Writes, 'match' | 'resource'>,
  definitions: readonly Definition[],
  name: string,
): Found {
  const found = match.find(({ field }) => field === name)
  if (found) return { match: found }
  const custom = name.startsWith('custom_fields.')
  const unique = definitions.find((one) => one.is_unique && `custom_fields.${one.key}` === name)
  if (unique) return { match: matchCustomField(resource.table, unique), unique }
  const names = [...match.map(({ field }) => field), 'a custom field that is defined as unique'].join(' or ')
  const lacks = custom ? `; ${name.slice(0, 100)} is not` : ''
  const message = `match must be ${names}${lacks}.`
  return { problem: { field: 'match', code: custom ? 'not_unique' : 'unknown_value', message } }
}
