import { type RawBuilder, sql } from 'kysely'
import type { Db, Tx } from '../../db/db.ts'
import { recount } from '../../db/lists/counts.ts'
import { addValues, indexValues, type Valued } from '../../db/lists/field-values.ts'
import { keyOf } from '../../db/lists/same-text.ts'
import { searchText } from '../../db/lists/search.ts'
import { sortName } from '../../db/lists/sort-names.ts'
import { join, prepareById, rowsOfTable } from '../../db/statements/bulk.ts'
import type { Texts } from '../../db/statements/json-text.ts'
import { prepare, run } from '../../db/statements/prepare.ts'
import { prepareEach } from '../../db/statements/recordset.ts'
import { storedActor } from '../../events/actors.ts'
import type { Context } from '../../events/context.ts'
import type { Resource } from '../resource.ts'
import { authorOf } from '../shared-columns.ts'
import { encode } from '../values/encoding.ts'
import {
  detailFields,
  listedFields,
  type Row,
  type Selection,
  selectionOf,
  textOfEach,
  textsByIds,
} from './selection.ts'

type Identified = { id: number }
/** A record as JSON text, with the time of its last change. */
export type RecordText = { text: string; updated_at: string }
/** For which workspace, by whom, and at what time, a record is written. */
export type Written = Pick<Context, 'workspace_id' | 'actor' | 'now'>

/** Reads and writes the rows of one resource, with their totals and their search entries. */
export type Records<View extends Identified, Values extends object> = {
  resource: Resource
  /** A live record, or null. */
  find(db: Db, workspace_id: number, id: number): Promise<View | null>
  /** The same as JSON. */
  text(db: Db, workspace_id: number, id: number): Promise<RecordText | null>
  /** Live and deleted records as lists show them: JSON with commas between them, in the order of the ids. */
  listed(db: Db, workspace_id: number, ids: readonly number[]): Promise<Texts>
  listedById(db: Db, workspace_id: number, ids: readonly number[]): Promise<Map<number, string>>
  /** The selection of the detail view. */
  detailed: Selection
  /** Detail views as lines of JSON. */
  lines(db: Db, workspace_id: number, ids: readonly number[]): Promise<Texts>
  /** Detail views, for what needs their values. */
  detailsByIds(db: Db, workspace_id: number, ids: readonly number[]): Promise<View[]>
  /** Adds a record whose references are live; returns its detail view. `set` has the columns that no body sets. */
  insert(tx: Tx, by: Written, values: Values, set?: Row): Promise<View>
  /**
   * Changes the given fields of a live record, whose detail view is `before`; returns the new view. `set` has columns that
   * no body sets. `touch: false` keeps updated_at, for a change that no view shows.
   */
  update(
    tx: Tx,
    by: Written,
    before: View,
    changes: Partial<Values>,
    options?: { set?: Row; touch?: boolean },
  ): Promise<View>
}

/** The rows of a resource. Its queries are compiled once. */
export function recordsOf<View extends Identified, Values extends object>(
  resource: Resource,
): Records<View, Values> {
  const { table, columns } = resource
  const listed = selectionOf(resource, listedFields(columns))
  const detailed = selectionOf(resource, detailFields(columns))
  const column = (name: string) => sql.ref(`${table}.${name}`)
  const live = prepareById<Key, RecordText & Identified>((is, p, db) =>
    detailed.select(db, {
      columns: ['id', 'updated_at'],
      where: sql`${column('workspace_id')} = ${p.workspace_id} AND ${is(`${table}.id`)} AND ${column('deleted_at')} IS NULL`,
    }),
  )
  const details = textsByIds(detailed, ',')

  const find = async (db: Db, workspace_id: number, id: number): Promise<View | null> =>
    JSON.parse((await live(db, { workspace_id, id }))?.text ?? 'null')
  return {
    resource,
    find,
    text: async (db, workspace_id, id) => (await live(db, { workspace_id, id })) ?? null,
    listed: textsByIds(listed, ','),
    listedById: textOfEach(listed),
    detailed,
    lines: textsByIds(detailed, '\n'),
    detailsByIds: async (...asked) => JSON.parse(`[${(await details(...asked)).text}]`),
    insert: inserterOf(resource),
    update: updaterOf(resource, find),
  }
}

type Tagged = Parameters<typeof indexValues>[4]
type Key = { workspace_id: number; id: number }

function inserterOf<View extends Identified, Values extends object>(resource: Resource) {
  const { table, part_of, counted, columns, filter_by } = resource
  const readEmbedded = embeddedReader(resource)
  const generated = resource.stored.filter(({ column }) => column.generated).map(({ name }) => name)
  const names = ['workspace_id', ...writtenColumns(resource)]
  const is_indexed = isIndexed(resource)
  const rowOf = rowMaker(resource)
  const viewOf = newViews<View>(resource)
  const empty = Object.fromEntries(names.map((name) => [name, null]))
  const into = sql`INSERT INTO ${sql.table(table)} (${columnList(names)})`
  // No column stores these fields.
  const computed = Object.entries(filter_by).flatMap(([name, by]) =>
    columns[name]?.stored === false ? [sql`${by} AS ${sql.ref(name)}`] : [],
  )
  const returning = sql`RETURNING ${sql.join([columnList(['id', ...generated]), ...computed])}`
  const insertOne = prepare<Row, Row & Identified>(
    (p) => sql<Row & Identified>`${into} VALUES (${sql.join(names.map((name) => p[name]))}) ${returning}`,
  )
  const insertAll = prepare<{ rows: string }, Row & Identified>(
    (p) =>
      sql<
        Row & Identified
      >`${into} SELECT ${columnList(names)} FROM ${rowsOfTable(table, p.rows)} ${returning}`,
  )
  const insertEach = prepareEach<Row, Row & Identified>(
    names,
    ({ row, values }) =>
      sql<
        Row & Identified
      >`${into} ${values(names.map((name) => row[name] as RawBuilder<unknown>))} ${returning}`,
  )
  // The rows get their ids in their order.
  const send = async (tx: Tx, rows: readonly Row[]) => {
    const made =
      tx.engine === 'sqlite' ? insertEach(tx, rows, {}) : insertAll(tx, { rows: JSON.stringify(rows) })
    return (await made).sort((a, b) => a.id - b.id)
  }

  return async (tx: Tx, by: Written, values: Values, set: Row = {}): Promise<View> => {
    const { workspace_id, actor, now } = by
    const author = storedActor(actor)
    const dated = { created_at: now, updated_at: now }
    const fields: Row = { ...values, ...set, ...dated, created_by: author, updated_by: author }
    const row = rowOf(fields, {}, { ...empty, workspace_id })
    const [embedded, made] = await Promise.all([
      readEmbedded(tx, workspace_id, fields),
      join(tx, send, row, { writes: true, waits: true }) ?? insertOne(tx, row).then(([first]) => first),
    ])
    if (!made) throw new Error('The insert returned no row.')
    // Every field is known. Reading the record would cost one more round trip.
    const record: Row = Object.assign(fields, made)
    // No list has pages of records that are part of another one, so no totals are kept of them.
    if (!part_of) recount(tx, workspace_id, table, counted, null, record)
    const { tags, custom_fields } = record as Tagged
    if (is_indexed) addValues(tx, table as Valued, [{ tags, custom_fields, workspace_id, id: made.id }])
    const shown_author = authorOf(author, actor.name ?? null)
    return viewOf(Object.assign(record, embedded, { created_by: shown_author, updated_by: shown_author }))
  }
}

/** Reads what the detail view of a new record shows of the records to which it refers. */
function embeddedReader({ columns }: Resource) {
  const readers = Object.entries(columns).flatMap(([name, { embeds }]) => {
    const target = embeds && columns[embeds.by]?.refers_to
    if (!target) return []
    const read = prepareById<Key, Row & Identified>(
      (is, p) => sql<
        Row & Identified
      >`SELECT ${columnList(['id', ...embeds.fields])} FROM ${sql.table(target)}
          WHERE workspace_id = ${p.workspace_id} AND ${is('id')} AND deleted_at IS NULL`,
    )
    return [{ name, by: embeds.by, read }]
  })
  return async (tx: Tx, workspace_id: number, fields: Row): Promise<Row> => {
    const embedded = readers.map(async ({ name, by, read }) => {
      const id = fields[by] as number | null
      return [name, id === null ? null : await read(tx, { workspace_id, id })]
    })
    return Object.fromEntries(await Promise.all(embedded))
  }
}

/** Makes the detail view of a new record, from the fields that were written. */
function newViews<View>({ columns }: Resource) {
  const names = Object.keys(columns)
  const kept = Object.fromEntries(names.map((name) => [name, columns[name]?.kept && columns[name]?.default]))
  return (fields: Row): View => {
    const view: Row = { id: fields.id }
    for (const name of names) view[name] = fields[name] ?? kept[name] ?? null
    return view as View
  }
}

function updaterOf<View extends Identified, Values extends object>(
  resource: Resource,
  find: Records<View, Values>['find'],
) {
  const { table, counted } = resource
  const rowOf = rowMaker(resource)
  const is_indexed = isIndexed(resource)
  const isShownAsWritten = viewsKnown(resource)
  const updateOf = updatesOf(table, counted)
  const countedRow = prepareById<Key, Row & Identified>(
    (is, p) => sql<Row & Identified>`SELECT ${columnList(['id', ...counted])} FROM ${sql.table(table)}
        WHERE workspace_id = ${p.workspace_id} AND ${is('id')}`,
  )

  return async (
    tx: Tx,
    { workspace_id, actor, now }: Written,
    before: View,
    changes: Partial<Values>,
    { set = {}, touch = true }: { set?: Row; touch?: boolean } = {},
  ): Promise<View> => {
    const { id } = before
    const author = storedActor(actor)
    const touched = touch ? { updated_at: now, updated_by: author } : {}
    const fields: Row = { ...changes, ...set, ...touched }
    const is_counted = counted.some((name) => name in fields)
    if (is_indexed && ('tags' in fields || 'custom_fields' in fields)) {
      const after = { ...before, ...fields } as Tagged
      indexValues(tx, table as Valued, workspace_id, id, before as Tagged, after)
    }
    const row = rowOf(fields, before)
    const is_known = isShownAsWritten(fields, actor)
    // As they are stored: a reference that reads null is counted too.
    const [old = null, current = null, read] = await Promise.all([
      is_counted ? countedRow(tx, { workspace_id, id }) : undefined,
      updateOf(Object.keys(row))(tx, { ...row, workspace_id, id }),
      is_known ? undefined : find(tx, workspace_id, id),
    ])
    if (is_counted) recount(tx, workspace_id, table, counted, old, current)
    if (!is_known) return read ?? gone()
    if (touch) fields.updated_by = authorOf(author, actor.name ?? null)
    // A spread of `before` takes V8 several times as long.
    const view: Row = {}
    for (const name of Object.keys(before)) view[name] = name in fields ? fields[name] : (before as Row)[name]
    return view as View
  }
}

const gone = (): never => {
  throw new Error('The record that was changed is not live.')
}

/**
 * Whether the detail view after a change follows from the view before and the written fields, so that no read is needed: no
 * embedded record, computed field or generated column depends on them, and the author's name is known.
 */
function viewsKnown({ columns }: Resource) {
  const all = Object.values(columns)
  const has_generated = all.some(({ generated, stored }) => generated || stored === false)
  const others_depend = new Set(all.flatMap(({ embeds }) => embeds?.by ?? []))
  return (fields: Row, { id, name }: Context['actor']): boolean =>
    !has_generated &&
    (id === null || name !== undefined) &&
    !Object.keys(fields).some((field) => others_depend.has(field))
}

// A client chooses which fields it sends, and each prepared statement takes memory on every connection.
const max_prepared_updates = 50

/** The UPDATE of some columns of a record by its id. It returns the counted columns if it changes one of them. */
function updatesOf(table: string, counted: readonly string[]) {
  type Update = (tx: Tx, row: Row & Key) => Promise<Row | undefined>
  const prepared = new Map<string, Update>()
  // RETURNING makes SQLite read the whole row, so leave it out where nobody needs it.
  const returned = (names: readonly string[], from = '') =>
    names.some((name) => counted.includes(name))
      ? sql`RETURNING ${columnList(['id', ...counted].map((name) => from + name))}`
      : sql``
  const update = (names: readonly string[], row: Row) => sql<Row & Identified>`UPDATE ${sql.table(table)}
    SET ${sql.join(names.map((name) => sql`${sql.ref(name)} = ${row[name]}`))}
    WHERE workspace_id = ${row.workspace_id} AND id = ${row.id} ${returned(names)}`
  const updateAll = (names: readonly string[], rows: string) => sql<
    Row & Identified
  >`UPDATE ${sql.table(table)} AS t
    SET ${sql.join(names.map((name) => sql`${sql.ref(name)} = r.${sql.ref(name)}`))} FROM ${rowsOfTable(table, rows)}
    WHERE t.workspace_id = r.workspace_id AND t.id = r.id ${returned(names, 't.')}`

  // SQLite runs the statement for each row: unpacking the rows in SQL takes longer.
  const updater = (
    one: Run<Row & Key, Row & Identified>,
    each: Run<readonly (Row & Key)[], Row & Identified>,
    all: Run<{ rows: string }, Row & Identified>,
  ): Update => {
    const send = async (tx: Tx, rows: readonly (Row & Key)[]) => {
      const changed = await (tx.engine === 'sqlite'
        ? each(tx, rows)
        : all(tx, { rows: JSON.stringify(rows) }))
      const by_id = new Map(changed.map((row) => [row.id, row]))
      return rows.map(({ id }) => by_id.get(id))
    }
    return (tx, row) => join(tx, send, row, { writes: true }) ?? one(tx, row).then(([changed]) => changed)
  }
  return (names: readonly string[]): Update => {
    const key = names.join()
    const found = prepared.get(key)
    if (found) return found
    if (prepared.size >= max_prepared_updates) {
      const runOne = (tx: Tx, row: Row & Key) => run<Row & Identified>(tx, update(names, row).compile(tx))
      return updater(
        runOne,
        async (tx, rows) => (await Promise.all(rows.map((row) => runOne(tx, row)))).flat(),
        (tx, { rows }) => run(tx, updateAll(names, rows).compile(tx)),
      )
    }
    const each = prepareEach<Row & Key, Row & Identified>([...names, 'workspace_id', 'id'], ({ row }) =>
      update(names, row as Row),
    )
    const made = updater(
      prepare((p) => update(names, p)),
      (tx, rows) => each(tx, rows, {}),
      prepare((p) => updateAll(names, p.rows)),
    )
    prepared.set(key, made)
    return made
  }
}
type Run<P, R> = (tx: Tx, parameters: P) => Promise<R[]>

const columnList = (names: readonly string[]) => sql.join(names.map((name) => sql.ref(name)))

/** Whether lists find its records by tags or custom fields (db/lists/field-values.ts). */
const isIndexed = ({ columns }: Resource): boolean => 'tags' in columns || 'custom_fields' in columns

/** The fields that a statement may write. */
const writtenFields = ({ stored }: Resource) =>
  stored.filter(({ column }) => !column.generated && !column.kept)

/** The columns that an insert writes. */
const writtenColumns = (resource: Resource): string[] => [
  ...writtenFields(resource).map(({ name }) => name),
  ...Object.keys(resource.hidden),
  ...(resource.sort_name.length ? ['sort_name'] : []),
  ...resource.keyed.map(({ name }) => name),
]

/**
 * A function that gives the columns for some fields: their encoded values, and what follows from them. For an update it
 * needs the record before. It sets them in `row`.
 */
function rowMaker(resource: Resource) {
  const written = writtenFields(resource)
  const { hidden, sort_name, search_text, keyed } = resource
  return (fields: Row, before: object = {}, row: Row = {}): Row => {
    for (const { field, name, column } of written)
      if (field in fields) row[name] = encode(column, fields[field])
    for (const name of Object.keys(hidden)) if (name in fields) row[name] = fields[name]
    const textsOf = (names: readonly string[]) =>
      names.map((name) => String((name in fields ? fields : (before as Row))[name] ?? ''))
    // The database writes an index entry again even if the value is the same. So set these only if they may differ.
    const isChanged = (names: readonly string[]) => names.some((name) => name in fields)
    if (isChanged(sort_name)) row.sort_name = sortName(...textsOf(sort_name))
    if (isChanged(search_text)) row.search_text = searchText(textsOf(search_text))
    for (const { field, name, key } of keyed)
      if (field in fields) row[name] = fields[field] ? keyOf[key](fields[field] as string) || null : null
    return row
  }
}
