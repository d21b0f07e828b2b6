import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { isoTime } from '../../clock.ts'
import { type FieldType, sortValue } from '../../custom-fields/defined-values.ts'
import { definitionsOf } from '../../custom-fields/definitions.ts'
import type { Db } from '../../db/db.ts'
import { findByValue, valueWithin } from '../../db/lists/by-value.ts'
import { countOf, countWithValue } from '../../db/lists/counts.ts'
import { indexedWhole, type Valued, valueText } from '../../db/lists/field-values.ts'
import { anyOf, choice, equals, type Filter, hasValue, lacksKey, none } from '../../db/lists/filters.ts'
import { type Found, findRecords, type IdPage, type Page } from '../../db/lists/lists.ts'
import { match_keys } from '../../db/lists/match-keys.ts'
import type { Sorting } from '../../db/lists/orders.ts'
import { keyOf, writtenForms } from '../../db/lists/same-text.ts'
import { textOrNumberFilter } from '../../db/lists/search.ts'
import { isLive } from '../../db/references.ts'
import { type FieldProblem, forbidden, invalid, refuse } from '../../errors.ts'
import type { Actor } from '../../events/context.ts'
import { max_values, readValue, readWanted, type Wanted } from '../../http/filter-values.ts'
import { operatorInKey } from '../../http/query-names.ts'
import { isRelative } from '../../http/relative-days.ts'
import type { Resource } from '../resource.ts'
import { encode } from '../values/encoding.ts'
import { zoneOf } from '../values/time-zone.ts'
import { type Condition, conditionsOf, type FilterField, matches } from './filter-fields.ts'
import { custom_field, custom_range, searchesTexts } from './list-query.ts'
import { type Asked, customDays, rangeFilter, relativeFilter, storedBy } from './range-filters.ts'

/** The request of a list. */
export type ListRequest<Query = object> = Asked & {
  /** The parameters that the schema accepted. */
  query: Query
  /** The parameters that are filters of fields. */
  conditions: Condition[]
  listing: { page: Page; sorting: Sorting }
  /** Reads the records in place of the list view, for an export. */
  read?: ReadByIds<unknown>
}

type Asker = { workspace_id: number; actor: Actor; scopes: readonly string[] | null }

/**
 * The request of a caller for the records that meet a query, without its page. Throws 403 for a parameter that needs a scope
 * which the caller lacks.
 */
export function requestOf<Query extends object>(
  resource: Resource,
  { workspace_id, actor, scopes }: Asker,
  query: Query,
  now_ms: number,
): Omit<ListRequest<Query>, 'listing'> {
  for (const [name, value] of Object.entries(query)) {
    const scope = resource.parameter_scopes[name]
    if (scope && value !== 'false' && scopes && !scopes.includes(scope))
      throw forbidden(`The parameter ${name} needs ${scope}.`)
  }
  return {
    workspace_id,
    query,
    conditions: conditionsOf(resource, query),
    person_id: actor.kind === 'person' ? actor.id : null,
    time_zone: zoneOf({ time_zone: 'UTC', ...query }),
    now: isoTime(now_ms),
  }
}

/** Reads records by their ids, in the order of the ids: as objects, or as one text. */
export type ReadByIds<Records> = (db: Db, workspace_id: number, ids: readonly number[]) => Promise<Records>

/** One page of the live records of a resource that meet the query and `more` filters, as `read` reads them. */
export async function listRecords<Records>(
  db: Db,
  resource: Resource,
  request: ListRequest,
  read: ReadByIds<Records>,
  more: readonly Filter[] = [],
): Promise<Found<Records>> {
  const filters = await filtersOf(db, resource, request)
  return listFiltered(db, resource, request, read, filters && [...filters, ...more])
}

/** The same, of the live records that meet all `filters`, whatever the query says. Null: no record can meet them. */
export async function listFiltered<Records>(
  db: Db,
  resource: Resource,
  request: ListRequest,
  read: ReadByIds<Records>,
  filters: Filter[] | null,
): Promise<Found<Records>> {
  const { workspace_id, read: exported } = request
  const reader = (exported as ReadByIds<Records> | undefined) ?? read
  const { ids, total, next } = await findIds(db, resource, request, filters)
  return { records: await reader(db, workspace_id, ids), total, next }
}

async function findIds(
  db: Db,
  resource: Resource,
  { workspace_id, listing: { sorting, page } }: ListRequest,
  filters: Filter[] | null,
): Promise<IdPage> {
  if (!filters) return { ids: [], total: 'offset' in page ? 0 : null, next: null }
  const asked = { table: resource.table, workspace_id, filters, page }
  if (sorting.custom_key === undefined) return findRecords(db, { ...asked, sorting })
  return findByValue(db, asked, await customOrder(db, resource, workspace_id, sorting, sorting.custom_key))
}

/** The order by a custom field. Throws 422 if the field is not defined. */
async function customOrder(
  db: Db,
  resource: Resource,
  workspace_id: number,
  { name, descending }: Sorting,
  key: string,
) {
  const definition = (await definitionsOf(db, workspace_id, resource)).find((one) => one.key === key)
  if (definition) return { definition_id: definition.id, descending }
  const message = `sort by ${name} needs a definition of this custom field.`
  throw invalid([{ field: 'sort', code: 'unknown_value', message }])
}

/** The filters of a request; null when no record can meet them. Each is a condition on the resource's table. */
export async function filtersOf(
  db: Db,
  resource: Resource,
  request: Omit<ListRequest, 'listing'>,
): Promise<Filter[] | null> {
  const { workspace_id, conditions, query } = request
  const filters = [
    ...(await valueFilters(db, resource, request)),
    ...(await customRanges(db, resource, workspace_id, query)),
  ]
  if (searchesTexts(resource)) {
    const { search } = query as { search?: string }
    filters.push(...(await textOrNumberFilter(db, resource, workspace_id, search)))
  }
  const found = await Promise.all(conditions.map((condition) => filterOf(db, resource, request, condition)))
  for (const filter of found) {
    if (!filter) return null
    filters.push(...filter)
  }
  return filters
}

async function filterOf(
  db: Db,
  resource: Resource,
  asked: Asked,
  condition: Condition,
): Promise<Filter[] | null> {
  const { field } = condition
  if (!('wanted' in condition)) return rangeFilter(resource, condition)
  const { any, not } = condition.wanted
  return field.relative && [...any, ...not].some((value) => isRelative(String(value)))
    ? relativeFilter(db, resource, asked, { field, wanted: condition.wanted })
    : choiceOf(db, resource, asked, field, condition.wanted, storedBy(resource, field))
}

/** The filter of a list of values; null when no record has one of them. */
async function choiceOf(
  db: Db,
  resource: Resource,
  asked: Asked,
  field: FilterField,
  wanted: Wanted,
  by: RawBuilder<unknown>,
): Promise<Filter[] | null> {
  const { name } = field
  const target = resource.references[name]
  const { or_none, some } = wanted
  // PostgreSQL gets the usual total together with the check of the record: values of references stay as they are.
  const [any, not, early] = await Promise.all([
    possible(db, resource, asked, field, wanted.any),
    possible(db, resource, asked, field, wanted.not),
    target && keptTotal(db, resource, asked, field, wanted),
  ])
  if (wanted.any.length && !any.length && !or_none) return null
  // No record has the values that are left out: each record is none of them.
  if (!any.length && !or_none && !not.length && !some) return []
  const are_all = any.length === wanted.any.length && not.length === wanted.not.length
  const total =
    target && are_all ? early : await keptTotal(db, resource, asked, field, { any, or_none, not, some })
  const [only] = any
  if (any.length === 1 && !or_none && !not.length && !some && only !== undefined && total !== undefined)
    return [equals(name, only, total)]
  const match = matches(resource, name) ? match_keys[name] : undefined
  const missing = target
    ? sql<SqlBool>`(${by} IS NULL OR ${by} IN (${trashed(target, asked)}))`
    : sql<SqlBool>`${by} IS NULL`
  return [choice(match?.key ?? by, { any, or_none, not, some, missing, present: match?.where }, total)]
}

/** The records in the trash: a reference to one of them reads null. */
const trashed = (target: string, { workspace_id }: Asked) =>
  sql<{
    id: number
  }>`SELECT id FROM ${sql.table(target)} WHERE workspace_id = ${workspace_id} AND deleted_at IS NOT NULL`

/** The number of records that a list of values finds, if the kept totals tell it. */
async function keptTotal(
  db: Db,
  resource: Resource,
  asked: Asked,
  { name, column }: FilterField,
  { any, or_none, not, some }: Wanted,
): Promise<number | undefined> {
  if (!column.counted || (any.length > 0 && (not.length > 0 || some))) return undefined
  const { table, references } = resource
  const { workspace_id } = asked
  if (any.length && !or_none) return sumOf(db, resource, asked, name, any)
  if (not.length && !or_none && !some)
    return (await countOf(db, workspace_id, table)) - (await sumOf(db, resource, asked, name, not))
  if (not.length || (or_none && some)) return undefined
  const target = references[name]
  const { rows } = target ? await trashed(target, asked).execute(db) : { rows: [] }
  // Each of these is one more total to read.
  if (rows.length > max_values) return undefined
  const unseen = await sumOf(
    db,
    resource,
    asked,
    name,
    rows.map(({ id }) => id),
  )
  const valued = (await countWithValue(db, workspace_id, table, name)) - unseen
  if (some) return valued
  const none_of_it = (await countOf(db, workspace_id, table)) - valued
  return none_of_it + (await sumOf(db, resource, asked, name, any))
}

/** The values as the index has them, without those that no record can have. */
async function possible(
  db: Db,
  resource: Resource,
  { workspace_id, person_id }: Asked,
  { name, kind, column }: FilterField,
  values: readonly (string | number)[],
): Promise<(string | number)[]> {
  const target = resource.references[name]
  if (target) {
    const live = await Promise.all(values.map((id) => isLive(db, target, workspace_id, Number(id))))
    return values.filter((_, at) => live[at])
  }
  if (kind === 'member') return values.flatMap((id) => (id === 'me' ? (person_id ?? []) : id))
  if (matches(resource, name)) return values.map((value) => keyOf[name](String(value)))
  if (kind === 'text') return values.flatMap((value) => writtenForms(String(value)))
  return values.map((value) => encode(column, value) as string | number)
}

/** The kept total of the records that have one of some values. */
async function sumOf(
  db: Db,
  { table }: Resource,
  { workspace_id }: Asked,
  field: string,
  values: readonly (string | number)[],
): Promise<number> {
  const names = new Set(values.map((value) => `${table}.${field}=${value}`))
  const totals = await Promise.all([...names].map((name) => countOf(db, workspace_id, name)))
  return totals.reduce((sum, total) => sum + total, 0)
}

/**
 * The filters `tag` and `custom_fields[key]`. A custom field is compared as text, so `5` matches the number 5. Throws 422
 * for too many values, and 400 for an operator of another API in the key.
 */
async function valueFilters(db: Db, resource: Resource, asked: Asked & { query: object }): Promise<Filter[]> {
  const { workspace_id, query } = asked
  const { table } = resource
  const kind = table as Valued
  const filters: Filter[] = []
  const readDefined = async () =>
    new Set((await definitionsOf(db, workspace_id, resource)).map(({ key }) => key))
  for (const [name, text] of Object.entries(query)) {
    const [, key] = custom_field.exec(name) ?? []
    if (name !== 'tag' && key === undefined) continue
    const refused = key === undefined ? null : await operatorInKey(key, readDefined)
    if (refused) throw refused
    // An empty text is a value of a custom field, and no tag.
    const empty = key === undefined ? {} : { empty: 'empty value' as const }
    const of_emails = /\s.*@/s.test(text) && (await typeOf(db, resource, workspace_id, key)) === 'email'
    const wanted = readWanted({ name, kind: of_emails ? 'email' : 'text', nullable: true, ...empty }, text)
    if (!wanted) continue
    if ('code' in wanted) throw invalid([wanted])
    const days: Awaited<ReturnType<typeof customDays>> =
      key === undefined ? new Map() : await customDays(db, resource, asked, key, wanted)
    const plain = (values: (string | number)[]) =>
      groupsOf(values.filter((value) => !days.has(String(value))))
    const ofDays = (values: (string | number)[]) => values.flatMap((value) => days.get(String(value)) ?? [])
    const field = key === undefined ? 'tags' : `custom_fields.${key}`
    const missing = key === undefined ? sql<SqlBool>`tags = '[]'` : lacksKey(db, key)
    const having = (values: string[]) => hasValue(db, kind, workspace_id, field, values)
    const is_missing = { where: missing, plain: missing }
    const any = [
      ...plain(wanted.any).map(having),
      ...ofDays(wanted.any),
      ...(wanted.or_none ? [is_missing] : []),
    ]
    filters.push(...(any.length > 1 ? [anyOf(any)] : any))
    for (const values of plain(wanted.not))
      filters.push(await without(db, workspace_id, table, having(values)))
    for (const found of ofDays(wanted.not)) filters.push(none(found.plain))
    if (wanted.some) filters.push(none(missing))
  }
  return filters
}

/** The type of a custom field; undefined if no definition has it. */
const typeOf = async (db: Db, resource: Resource, workspace_id: number, key: string | undefined) =>
  (await definitionsOf(db, workspace_id, resource)).find((one) => one.key === key)?.type

/**
 * The filters `custom_fields[key]_from` and `_to`. Throws 422 unless the field is defined as a number or a date, and for a
 * malformed end.
 */
async function customRanges(
  db: Db,
  resource: Resource,
  workspace_id: number,
  query: object,
): Promise<Filter[]> {
  const sent = Object.entries(query as Record<string, string>).flatMap(([name, text]) => {
    const [, key, end] = custom_range.exec(name) ?? []
    return key === undefined ? [] : [{ name, key, end, text: text.trim() }]
  })
  if (!sent.length) return []
  const definitions = await definitionsOf(db, workspace_id, resource)
  const problems: FieldProblem[] = []
  const filters = sent.flatMap(({ name, key, end, text }) => {
    const definition = definitions.find((one) => one.key === key)
    const read = readEnd(name, definition?.type, text)
    if ('code' in read) problems.push(read)
    if (!definition || 'code' in read) return []
    const value = sortValue(definition.type, read.value) ?? ''
    const [from, to] = end === 'from' ? [value, undefined] : [undefined, value]
    return [valueWithin(resource.table, workspace_id, definition.id, from, to)]
  })
  refuse(problems)
  return filters
}

// Number() also reads other forms, such as 0x10.
const decimal = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i

function readEnd(name: string, type: FieldType | undefined, text: string): { value: unknown } | FieldProblem {
  if (type === 'date') return readValue({ name, kind: 'day', nullable: false }, text)
  const value = decimal.test(text) ? Number(text) : Number.NaN
  if (type === 'number' && Number.isFinite(value)) return { value }
  return type === 'number'
    ? { field: name, code: 'invalid_type', message: `${name} must be a number, such as 12.5.` }
    : {
        field: name,
        code: 'not_defined',
        message: `${name} needs a field that is defined as number or date.`,
      }
}

/** The records that do not meet a filter. Their number is known if the others can be counted by an index. */
async function without(
  db: Db,
  workspace_id: number,
  table: string,
  { plain, count }: Filter,
): Promise<Filter> {
  if (!count) return none(plain)
  const [{ n } = { n: 0 }] = (await count.execute(db)).rows
  return none(plain, (await countOf(db, workspace_id, table)) - Number(n))
}

/** The texts that one look into the index finds: all that it holds whole, and each longer one. */
function groupsOf(values: readonly (string | number)[]): string[][] {
  const forms = values.map((value) => formsOf(String(value)))
  const whole = forms.flat().filter(indexedWhole)
  return [
    ...(whole.length ? [[...new Set(whole)]] : []),
    ...forms.filter(([text = '']) => !indexedWhole(text)),
  ]
}

/** The texts that equal a value: `5` also matches the number 5.0. */
function formsOf(text: string): string[] {
  const number = decimal.test(text) ? Number(text) : Number.NaN
  return Number.isFinite(number) ? [...new Set([text, valueText(number)])] : [text]
}
