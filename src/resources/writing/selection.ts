import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Column, Columns, Resource } from '../resource.ts'
import { authorOf } from '../shared-columns.ts'
import { decoderOf } from '../values/encoding.ts'

/** A row as the database answers it: a value for each selected name. */
export type Row = Record<string, unknown>

/** A field that no column stores: the columns that it needs, and how its value follows from them. */
export type Computed = Record<string, { from: readonly string[]; value(row: Row): unknown }>

/** How one view of a resource is read. */
export type Selection<View> = {
  /** SELECT of the view from the table and the records that it refers to. The condition may name the table's columns. */
  query(condition: RawBuilder<SqlBool>, order?: RawBuilder<unknown>): RawBuilder<Row>
  /** The record that a row stands for. */
  read(row: Row): View
}

type Field = {
  name: string
  columns: RawBuilder<unknown>[]
  read(row: Row): unknown
}

const as = (expression: RawBuilder<unknown>, name: string) => sql`${expression} AS ${sql.ref(name)}`

/** The name under which the record of a reference is joined: company for company_id. */
export const joinedAs = (reference: string) => reference.replace(/_id$/, '')

/** The selection of some fields of a resource; `fields` are its columns, or those of one view. */
export function selectionOf<View>(
  { table, columns }: Pick<Resource, 'table' | 'columns'>,
  fields: Columns,
  computed: Computed = {},
): Selection<View> {
  const selected = Object.entries(fields).map(([name, column]) => fieldOf(table, name, column, computed))
  const columns_of_view = [sql.ref(`${table}.id`), ...selected.flatMap((field) => field.columns)]
  const from = sql`${sql.table(table)}${joinsOf(table, columns, fields)}`
  return {
    query: (condition, order = sql``) =>
      sql<Row>`SELECT ${sql.join(columns_of_view)} FROM ${from} WHERE ${condition} ${order}`,
    read(row) {
      const view: Row = { id: row.id }
      for (const { name, read } of selected) view[name] = read(row)
      return view as View
    },
  }
}

/** The fields of the detail view: all of them, however long. */
export const detailFields = (columns: Columns): Columns =>
  Object.fromEntries(Object.entries(columns).map(([name, { listed: _, ...column }]) => [name, column]))

/** The fields of the list view. Those that it may leave out come last, as a serializer of its schema writes them. */
export function listedFields(columns: Columns): Columns {
  const listed = Object.entries(columns).flatMap(([name, column]): [string, Column][] => {
    const { listed, embeds } = column
    if (listed === false) return []
    if (!embeds?.listed) return [[name, column]]
    return [[name, { ...column, embeds: { by: embeds.by, fields: embeds.listed.fields } }]]
  })
  return Object.fromEntries(
    listed.sort(([, a], [, b]) => Number(Boolean(a.listed)) - Number(Boolean(b.listed))),
  )
}

// A record in the trash is not joined: the reference to it reads null, and its column keeps the id.
export function joinsOf(table: string, columns: Columns, fields: Columns): RawBuilder<unknown> {
  const joins = Object.entries(columns).flatMap(([name, { refers_to }]) => {
    if (!refers_to || !(name in fields)) return []
    const joined = (column: string) => sql.ref(`${joinedAs(name)}.${column}`)
    return sql` LEFT JOIN ${sql.table(refers_to)} AS ${sql.ref(joinedAs(name))}
      ON ${joined('workspace_id')} = ${sql.ref(`${table}.workspace_id`)}
      AND ${joined('id')} = ${sql.ref(`${table}.${name}`)} AND ${joined('deleted_at')} IS NULL`
  })
  return joins.length ? sql.join(joins, sql``) : sql``
}

function fieldOf(table: string, name: string, column: Column, computed: Computed): Field {
  const { embeds, refers_to, stored = name } = column
  if (embeds) return embeddedField(name, embeds.by, embeds.fields)
  if (column.author) return authorField(table, name)
  if (refers_to) {
    const id = as(sql.ref(`${joinedAs(name)}.id`), name)
    return { name, columns: [id], read: (row) => row[name] }
  }
  if (stored === false) {
    const { from, value } = computed[name] ?? { from: [], value: () => null }
    return { name, columns: from.map((other) => sql.ref(`${table}.${other}`)), read: value }
  }
  const path = `${table}.${stored}`
  const decode = decoderOf(column)
  const read = decode ? (row: Row) => decode(row[name]) : (row: Row) => row[name]
  return { name, columns: [as(sql.ref(path), name)], read }
}

/** The kinds of authors that have a name. Ids begin with the kind: each author is looked up in one table only. */
export const authorsWithName = (id: RawBuilder<unknown>) =>
  [
    { kind: 'person', prefix: 'usr', table: 'users' },
    { kind: 'key', prefix: 'key', table: 'api_keys' },
  ].map(({ kind, prefix, table }) => ({
    kind,
    is: sql<SqlBool>`${id} LIKE ${sql.lit(`${prefix}~_%`)} ESCAPE '~'`,
    name: sql`(SELECT name FROM ${sql.table(table)} WHERE id = ${id})`,
  }))

/** The author of a record, with the present name. */
function authorField(table: string, name: string): Field {
  const id = sql.ref(`${table}.${name}`)
  const names = authorsWithName(id).map(({ is, name }) => sql`WHEN ${is} THEN ${name}`)
  const name_of = sql`CASE ${sql.join(names, sql` `)} END`
  const named = `${name}_name`
  return {
    name,
    columns: [as(id, name), as(name_of, named)],
    read: (row) => authorOf(row[name] as string | null, row[named] as string | null),
  }
}

function embeddedField(name: string, by: string, fields: readonly string[]): Field {
  const columns = fields.map((field) => as(sql.ref(`${joinedAs(by)}.${field}`), `${name}_${field}`))
  return {
    name,
    columns,
    read(row) {
      if (row[by] === null) return null
      const embedded: Row = { id: row[by] }
      for (const field of fields) embedded[field] = row[`${name}_${field}`]
      return embedded
    },
  }
}
