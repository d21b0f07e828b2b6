// runs: both
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { sql } from 'kysely'
import type { TSchema } from 'typebox'
import { openMigrated } from '../../../test/engine.ts'
import { runs } from '../../../test/quick.ts'
import { use } from '../../../test/use.ts'
import { insertKey } from '../../access/keys/keys.ts'
import { insertWorkspace } from '../../access/workspaces.ts'
import { systemClock } from '../../clock.ts'
import { type Tx, transaction } from '../../db/db.ts'
import { command_line, contextOf } from '../../events/context.ts'
import { lazySerializers } from '../../http/serializers.ts'
import { with_names } from '../activities/list.ts'
import { ActivityOfList } from '../activities/schema.ts'
import { with_contact } from '../appointments/list.ts'
import { AppointmentOfList } from '../appointments/schema.ts'
import { with_details, with_progress } from '../deals/list.ts'
import { DealOfList } from '../deals/schema.ts'
import { type DealState, type Stage, shownProbability, statusOf } from '../deals/stages.ts'
import { rooms } from '../index.ts'
import { type Column, type Columns, detailView, listView, type Resource } from '../resource.ts'
import { authorOf } from '../shared-columns.ts'
import { encode } from '../values/encoding.ts'
import { listedFields, type Selection, selectionOf, textsByIds } from './selection.ts'

const database = use(openMigrated)

const odd = [
  '"',
  '\\',
  '\n',
  '\t',
  '\b',
  '\u0001',
  '\u001f',
  '\u007f',
  '\u2028',
  '\ud83d\ude00',
  '\ud800',
  'é',
  "'",
  '%',
  '/',
]
const text = fc.string({
  unit: fc.oneof(fc.constantFrom(...odd), fc.string({ minLength: 1, maxLength: 1, unit: 'grapheme' })),
  maxLength: 12,
})
const json_number = fc.oneof(
  fc.constantFrom(1200, 1200.5, 0.0001, 1e21, -0, 1e-7),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
)
const custom_fields = fc.dictionary(
  fc.oneof(fc.constantFrom('__proto__', '12', 'a', 'updated_at', ''), text),
  fc.oneof(
    text,
    json_number,
    fc.boolean(),
    fc.constant(null),
    fc.string({ minLength: 9000, maxLength: 9000 }),
  ),
  { maxKeys: 4 },
)
const units = fc.oneof(
  fc.constantFrom(0, 1, 10_000, 12_000_000, 12_005_000, 999_999_999_999_999),
  fc.nat(2 ** 31 - 1),
)
const time = fc.constantFrom('2026-11-25T10:00:00.000Z', '1999-01-01T00:00:00.001Z')
const long = fc.integer({ min: 8190, max: 8194 }).map((length) => 'x'.repeat(length))

const hours = fc.array(fc.constant({ from: '09:00', to: '17:00' }), { maxLength: 2 })
const week = fc
  .record({ monday: hours, sunday: hours }, { requiredKeys: [] })
  .map((value) => JSON.stringify(value))
const days = fc
  .dictionary(fc.constantFrom('2026-12-24', '2026-12-25'), hours)
  .map((value) => JSON.stringify(value))

const hosts = fc
  .array(
    fc.record({
      user_id: fc.constantFrom('usr_1', 'usr_gone'),
      weight: fc.integer({ min: 1, max: 100 }),
      stale_since: fc.constant(null),
    }),
    { maxLength: 3 },
  )
  .map((value) => JSON.stringify(value))

const questions = fc
  .array(
    fc.record({
      key: fc.constantFrom('a', 'b "c"'),
      label: fc.constant('Größe?'),
      type: fc.constantFrom('select', 'long_text'),
      required: fc.boolean(),
      options: fc.constantFrom([], ['S & M']),
    }),
    { maxLength: 3 },
  )
  .map((value) => JSON.stringify(value))

type Values = Record<string, unknown>
type Known = { authors: readonly string[]; ids: Readonly<Record<string, readonly number[]>> }
type Schema = {
  type?: string | string[]
  items?: Schema
  enum?: readonly unknown[]
  format?: string
  maxLength?: number
}

/** The values that a column may store. */
function storedValue(name: string, column: Column, { authors, ids }: Known): fc.Arbitrary<unknown> {
  const shown = column.shown as Schema
  const orNull = (some: fc.Arbitrary<unknown>) => (shown.type?.includes('null') ? fc.option(some) : some)
  if (column.author) return fc.constantFrom(null, 'command_line', 'service', 'visitor', ...authors)
  if (column.refers_to) return fc.constantFrom(null, ...(ids[column.refers_to] ?? []))
  if (name.endsWith('_id') && !column.member)
    return fc.constantFrom(...(ids[`${name.slice(0, -3)}s`] ?? ids.companies ?? []))
  if (name === 'tags') return fc.array(text, { maxLength: 3 }).map((tags) => JSON.stringify(tags))
  if (name === 'availability') return week
  if (name === 'date_overrides') return days
  if (name === 'hosts') return hosts
  if (name === 'questions') return questions
  if (column.encoding === 'json' && shown.type?.includes('array')) {
    const item: fc.Arbitrary<unknown> = shown.items?.type === 'integer' ? fc.nat(90) : text
    return orNull(fc.array(item, { maxLength: 3 })).map((value) => JSON.stringify(value))
  }
  if (column.encoding === 'json') return custom_fields.map((fields) => encode(column, fields))
  if (column.encoding === 'flag') return fc.constantFrom(0, 1)
  if (column.encoding === 'ten_thousandths') return orNull(units)
  if (shown.enum) return fc.constantFrom(...shown.enum)
  if (shown.type?.includes('integer')) return orNull(fc.nat(90))
  if (shown.format?.includes('date')) return orNull(time)
  return orNull((shown.maxLength ?? 0) > 9000 ? fc.oneof(text, long) : text)
}

/** The lists of ids that another table has. */
const listsOf = ({ columns }: Resource) =>
  Object.entries(columns).flatMap(([name, { ids }]) => (ids ? [{ name, ...ids }] : []))

let slug = 0
/** Rows of a table, beside their workspace and id. */
const rowOf = (resource: Resource, known: Known) =>
  fc.record({
    ...Object.fromEntries(
      resource.stored
        .filter(({ column }) => !column.generated)
        .map(({ field, name, column }) => [name, storedValue(field, column, known)]),
    ),
    ...('booking_page_id' in resource.columns && { status: fc.constantFrom('cancelled', 'declined') }),
    ...Object.fromEntries(
      Object.keys(resource.hidden).map((name) => [name, fc.constant(name === 'search_text' ? '' : null)]),
    ),
    ...('probability' in resource.columns && {
      own_probability: fc.option(fc.nat(100)),
      closed_probability: fc.option(fc.nat(100)),
    }),
    ...Object.fromEntries(
      listsOf(resource).map(({ name, refers_to }) => [
        name,
        fc.array(fc.constantFrom(...(known.ids[refers_to] ?? [])), { maxLength: 3 }),
      ]),
    ),
    created_at: time,
    updated_at: time,
    ...('end_at' in resource.columns && {
      start_at: fc.constant('2026-11-25T10:00:00.000Z'),
      end_at: fc.constant('2026-11-26T10:00:00.000Z'),
    }),
    deleted_at: fc.constantFrom(null, null, '2026-11-25T10:00:00.000Z'),
  })

const serializerOf = (schema: unknown) =>
  lazySerializers({}, {} as never)({ schema, method: 'GET', url: '/', httpStatus: '200' } as never)

/** The views of lists beyond those that follow from the columns. */
const others: Record<string, { view: Selection; schema: TSchema }[]> = {
  activities: [{ view: with_names, schema: ActivityOfList }],
  appointments: [{ view: with_contact, schema: AppointmentOfList }],
  deals: [
    { view: with_details, schema: DealOfList },
    { view: with_progress, schema: DealOfList },
  ],
}

/** The part of a detail view that a list shows. A view may have more. */
function listed(columns: Columns, detail: Values, shown: Values): Values {
  const kept = Object.entries(detail).filter(([name, value]) => {
    const limit = columns[name]?.listed
    if (!limit) return name in shown
    const text = typeof value === 'string' ? value : value === null ? '' : JSON.stringify(value)
    return Buffer.byteLength(text) <= limit.up_to_bytes
  })
  const part = (value: unknown, of: unknown) =>
    value && of && !Array.isArray(of)
      ? Object.fromEntries(Object.keys(of).map((key) => [key, (value as Values)[key]]))
      : value
  return Object.fromEntries(
    kept.map(([name, value]) => [name, columns[name]?.embeds ? part(value, shown[name]) : value]),
  )
}

/** The records that were stored, by table and id. */
type Stored = Readonly<Record<string, ReadonlyMap<number, Values>>>

const wellFormed = (value: unknown) => (typeof value === 'string' ? value.toWellFormed() : value)

/** The detail view of a stored row. */
function viewOf(
  { columns }: Resource,
  row: Values,
  { stored, names }: { stored: Stored; names: Values },
): Values {
  const live = (table: string, id: unknown) => {
    const found = stored[table]?.get(id as number)
    return found?.deleted_at === null ? found : undefined
  }
  const shownOf = (
    name: string,
    { author, embeds, refers_to, ids, encoding, stored: column = name }: Column,
  ) => {
    if (name === 'probability') return shownProbability(row as DealState)
    if (name === 'status' && 'stage' in row) return statusOf(row.stage as Stage)
    if (author)
      return authorOf(row[name] as string | null, (names[row[name] as string] ?? null) as string | null)
    if (refers_to) return live(refers_to, row[name]) ? row[name] : null
    if (ids) {
      const of_list = new Set(row[name] as number[])
      return [...of_list].filter((id) => live(ids.refers_to, id)).sort((a, b) => a - b)
    }
    if (embeds) {
      const of = live(String(columns[embeds.by]?.refers_to), row[embeds.by])
      return of
        ? Object.fromEntries(['id', ...embeds.fields].map((field) => [field, wellFormed(of[field])]))
        : null
    }
    const value = row[String(column)]
    if (encoding === 'json') return JSON.parse(value as string)
    if (encoding === 'flag') return value === 1
    if (encoding === 'ten_thousandths') return value === null ? null : (value as number) / 10_000
    return wellFormed(value)
  }
  return Object.fromEntries([
    ['id', row.id],
    ...Object.entries(columns).map(([name, column]) => [name, shownOf(name, column)]),
  ])
}

async function insert(tx: Tx, table: string, row: Values): Promise<number> {
  const names = sql.join(Object.keys(row).map((name) => sql.ref(name)))
  const { rows } = await sql<{ id: number }>`INSERT INTO ${sql.table(table)} (${names})
    VALUES (${sql.join(Object.values(row))}) RETURNING id`.execute(tx)
  return Number(rows[0]?.id)
}

test('every view is written with the bytes of its values, and fits its schema', async () => {
  const { db } = database
  const workspace_id = await transaction(db, (tx) => insertWorkspace(tx, systemClock, command_line, 'W'))
  const context = contextOf(systemClock, { workspace_id, actor: command_line, request_id: null })
  const { id: key } = await transaction(db, (tx) =>
    insertKey(tx, context, { name: 'A "key"', scopes: null, expires_at: null }),
  )
  const ids: Record<string, number[]> = {}
  const stored: Record<string, Map<number, Values>> = {}
  const known: Known = { authors: [key, 'key_gone', 'usr_gone'], ids }
  const names = { [key]: 'A "key"' }
  const order = ['companies', 'contacts', 'deals', 'booking_pages']
  const rank = ({ resource: { table } }: (typeof rooms)[number]) => order.indexOf(table) + 1 || 9
  for (const { resource, detailed } of rooms.toSorted((a, b) => rank(a) - rank(b))) {
    const { table, columns } = resource
    ids[table] = []
    const of_table = new Map<number, Values>()
    stored[table] = of_table
    const lists = [
      { view: selectionOf(resource, listedFields(columns)), schema: listView('V', columns, 1) },
      ...(others[table] ?? []),
    ].map(({ view, schema }) => ({ read: textsByIds(view, '\n'), serialize: serializerOf(schema) }))
    const details = textsByIds(detailed, '\n')
    const serialize = serializerOf(detailView('V', columns, 1))
    await fc.assert(
      fc.asyncProperty(fc.array(rowOf(resource, known), { minLength: 1, maxLength: 5 }), async (rows) => {
        const made = await transaction(db, async (tx) => {
          const made: number[] = []
          for (const row of rows) {
            const own = 'slug' in row ? { slug: `s${slug++}` } : {}
            const values: Values = { ...row, ...own, workspace_id }
            const lists = listsOf(resource)
            const own_columns = Object.entries(values).filter(([name]) =>
              lists.every((one) => one.name !== name),
            )
            const id = await insert(tx, table, Object.fromEntries(own_columns))
            for (const { name, table, by, id: column } of lists)
              for (const one of values[name] as number[])
                await insert(tx, table, {
                  workspace_id,
                  [by]: id,
                  [column]: one,
                  updated_at: values.updated_at,
                })
            of_table.set(id, { ...values, id })
            made.unshift(id)
          }
          return made
        })
        ids[table]?.push(...made.slice(0, 1))
        const asked = [...made, 999_999]
        const records = made.map((id) => viewOf(resource, of_table.get(id) as Values, { stored, names }))
        const lines = records.map((one) => JSON.stringify(one))
        // The entity tag of a read must be that of a write, which has the object.
        assert.equal((await details(db, workspace_id, asked)).text, lines.join('\n'))
        assert.deepEqual(records.map(serialize), lines)
        for (const { read, serialize } of lists) {
          const { count, text } = await read(db, workspace_id, asked)
          assert.equal(count, made.length)
          for (const [at, line] of text.split('\n').entries()) {
            const shown = JSON.parse(line)
            assert.equal(line, serialize(shown))
            const own = Object.entries(shown).filter(([name]) => name === 'id' || name in columns)
            assert.deepEqual(Object.fromEntries(own), listed(columns, records[at] as Values, shown))
          }
        }
      }),
      { numRuns: runs(40) },
    )
  }
})
