import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { bytesOf } from '../../db/sizes.ts'
import {
  decimalText,
  joinTexts,
  jsonObject,
  jsonOf,
  type Member,
  no_texts,
  type Texts,
} from '../../db/statements/json-text.ts'
import { prepare } from '../../db/statements/prepare.ts'
import { chosenValues, listParameter } from '../../db/statements/recordset.ts'
import type { Column, Columns, Encoding, IdRows, Resource } from '../resource.ts'
import { units } from '../values/decimal.ts'

// The database writes a view as JSON text, with the bytes of JSON.stringify. Answers send the text. Code that needs values
// parses it, which takes no longer than to read a row.

export type Row = Record<string, unknown>

/** Fields beyond the columns of a resource. */
export type More = (db: Db) => readonly Member[]

type Rest = {
  columns?: readonly string[]
  /** A table that leads the join. */
  first?: RawBuilder<unknown>
  where: RawBuilder<SqlBool>
  order?: RawBuilder<unknown>
}

/** How one view of a resource is read. */
export type Selection = {
  table: Resource['table']
  /** SELECT of `text`, and of columns of the table, from the table and the records that it refers to. */
  select<R = { text: string }>(db: Db, rest: Rest): RawBuilder<R>
}

/** The selection of some fields of a resource, in their order. */
export function selectionOf(resource: Resource, fields: Columns, more: More = () => []): Selection {
  const { table, columns } = resource
  const from = sql`${sql.table(table)}${joinsOf(table, columns, fields)}`
  return {
    table,
    select(db, { columns: beside = [], first = sql``, where, order = sql`` }) {
      const id = { name: 'id', text: sql.ref(`${table}.id`) }
      const members = Object.entries(fields).map(([name, column]) => memberOf(db, resource, name, column))
      const text = sql`${jsonObject([id, ...members, ...more(db)])} AS text`
      return sql`SELECT ${sql.join([text, ...beside.map((name) => sql.ref(`${table}.${name}`))])}
        FROM ${first} ${from} WHERE ${where} ${order}`
    },
  }
}

/** The fields of the detail view: all of them, however long. */
export const detailFields = (columns: Columns): Columns =>
  Object.fromEntries(Object.entries(columns).map(([name, { listed: _, ...column }]) => [name, column]))

/** The fields of the list view. Optional ones come last, as a serializer of its schema writes them. */
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
function joinsOf(table: string, columns: Columns, fields: Columns): RawBuilder<unknown> {
  const joins = Object.entries(columns).flatMap(([name, { refers_to }]) => {
    if (!refers_to || !(name in fields)) return []
    const joined = (column: string) => sql.ref(`${joinedAs(name)}.${column}`)
    return sql` LEFT JOIN ${sql.table(refers_to)} AS ${sql.ref(joinedAs(name))}
      ON ${joined('workspace_id')} = ${sql.ref(`${table}.workspace_id`)}
      AND ${joined('id')} = ${sql.ref(`${table}.${name}`)} AND ${joined('deleted_at')} IS NULL`
  })
  return joins.length ? sql.join(joins, sql``) : sql``
}

/** The name under which the record of a reference is joined: company for company_id. */
const joinedAs = (reference: string) => reference.replace(/_id$/, '')

const encoded: Record<Encoding, (stored: RawBuilder<unknown>) => RawBuilder<unknown>> = {
  json: (stored) => stored,
  flag: (stored) => sql`CASE ${stored} WHEN 1 THEN 'true' ELSE 'false' END`,
  ten_thousandths: (stored) => decimalText(stored, units),
}

function memberOf(db: Db, { table, filter_by, shown_by }: Resource, name: string, column: Column): Member {
  const shown = shown_by[name]
  if (shown) return { name, text: shown(db) }
  const { embeds, author, refers_to, stored = name, listed, encoding, ids } = column
  const of = (path: string) => jsonOf(db, sql.ref(path))
  if (author) return { name, text: authorText(db, `${table}.${name}`) }
  if (ids) return { name, text: idsText(table, ids) }
  if (refers_to) return { name, text: of(`${joinedAs(name)}.id`) }
  if (embeds) {
    const joined = joinedAs(embeds.by)
    const members = ['id', ...embeds.fields].map((field) => ({ name: field, text: of(`${joined}.${field}`) }))
    const is_null = sql`${sql.ref(`${joined}.id`)} IS NULL`
    return { name, text: sql`CASE WHEN ${is_null} THEN 'null' ELSE ${jsonObject(members)} END` }
  }
  if (stored === false) return { name, text: jsonOf(db, filter_by[name] ?? sql`null`) }
  const path = `${table}.${stored}`
  const when = listed && sql<SqlBool>`${bytesOf(path)} <= ${sql.lit(listed.up_to_bytes)}`
  return { name, text: encoding ? encoded[encoding](sql.ref(path)) : of(path), ...(when && { when }) }
}

/**
 * The ids of a list that name live records, in their order. A merge may have made two of them equal. Without statistics,
 * PostgreSQL would read a whole workspace for a join.
 */
function idsText(owner: string, { table, by, id, refers_to }: IdRows): RawBuilder<unknown> {
  const live = sql`SELECT named.id FROM ${sql.table(refers_to)} AS named
    WHERE named.workspace_id = own.workspace_id AND named.id = ${sql.ref(`own.${id}`)} AND named.deleted_at IS NULL`
  const rows = sql`SELECT DISTINCT (${live}) AS id FROM ${sql.table(table)} AS own
    WHERE own.workspace_id = ${sql.ref(`${owner}.workspace_id`)} AND ${sql.ref(`own.${by}`)} = ${sql.ref(`${owner}.id`)}`
  // string_agg leaves null out.
  return sql`concat('[', (SELECT string_agg(CAST(id AS text), ',' ORDER BY id) FROM (${rows}) AS ids), ']')`
}

/**
 * The author that a column stores, with the present name. Ids begin with the kind: each author is looked up in one table
 * only.
 */
function authorText(db: Db, path: string): RawBuilder<unknown> {
  const id = sql.ref(path)
  const named = (kind: string, prefix: string, table: string) => {
    const name = sql`(SELECT name FROM ${sql.table(table)} WHERE id = ${id})`
    return sql`WHEN ${id} LIKE ${sql.lit(`${prefix}~_%`)} ESCAPE '~'
      THEN concat(${sql.lit(`{"kind":"${kind}","id":`)}, ${jsonOf(db, id)}, ',"name":', ${jsonOf(db, name)}, '}')`
  }
  return sql`CASE WHEN ${id} IS NULL THEN 'null' ${named('person', 'usr', 'users')} ${named('key', 'key', 'api_keys')}
    ELSE concat('{"kind":"', CASE ${id} WHEN 'command_line' THEN 'service' ELSE ${id} END, '","id":null,"name":null}') END`
}

type Ids = { workspace_id: number; ids: unknown }

const chosenRows = <R>(db: Db, { select, table }: Selection, p: Ids, columns: readonly string[] = []) =>
  select<R>(db, {
    columns,
    first: sql`${chosenValues(db, p.ids)} CROSS JOIN`,
    where: sql`${sql.ref(`${table}.workspace_id`)} = ${p.workspace_id} AND ${sql.ref(`${table}.id`)} = chosen.value`,
    order: sql`ORDER BY chosen.rowid`,
  })

/** Reads records by their ids as one text, in the order of the ids. Ids without a row are left out. */
export function textsByIds(view: Selection, separator: string) {
  const read = prepare((p: Ids, db) => joinTexts(chosenRows(db, view, p), separator))
  return async (db: Db, workspace_id: number, ids: readonly number[]): Promise<Texts> => {
    const [texts] = ids.length ? await read(db, { workspace_id, ids: listParameter(db, ids) }) : []
    return texts ?? no_texts
  }
}

/** Reads records as JSON texts, by their ids. */
export function textOfEach(view: Selection) {
  const read = prepare((p: Ids, db) => chosenRows<{ id: number; text: string }>(db, view, p, ['id']))
  return async (db: Db, workspace_id: number, ids: readonly number[]): Promise<Map<number, string>> => {
    const rows = ids.length ? await read(db, { workspace_id, ids: listParameter(db, ids) }) : []
    return new Map(rows.map(({ id, text }) => [id, text]))
  }
}
