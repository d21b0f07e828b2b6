import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { bytesOf } from '../../db/sizes.ts'
import {
  chosenValues,
  joinTexts,
  jsonObject,
  jsonOf,
  type Member,
  no_texts,
  type Texts,
} from '../../db/statements/json-text.ts'
import { prepare } from '../../db/statements/prepare.ts'
import { listParameter } from '../../db/statements/recordset.ts'
import type { Column, Columns, Resource } from '../resource.ts'
import { jsonOfStored } from '../values/encoding.ts'
import { authorsWithName, joinedAs, joinsOf } from './selection.ts'

// A view that is only sent: the database writes it as JSON text, and no object is made of its row.

type Key = { workspace_id: number; id: number }
type Described = Pick<Resource, 'table' | 'columns' | 'filter_by'>
/** Fields beyond the columns of a resource. */
export type More = (db: Db) => readonly Member[]

type Rest = {
  columns?: readonly string[]
  /** A table that leads the join. */
  first?: RawBuilder<unknown>
  where: RawBuilder<SqlBool>
  order?: RawBuilder<unknown>
}

/** A view of a resource's records. */
export type ViewText = {
  table: Resource['table']
  /** SELECT of `text`, and of columns of the table, from the table and the records that it refers to. */
  select(db: Db, rest: Rest): RawBuilder<unknown>
}

/** The text of some fields of a resource, in their order. */
export function viewText(resource: Described, fields: Columns, more: More = () => []): ViewText {
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

function memberOf(db: Db, { table, filter_by }: Described, name: string, column: Column): Member {
  const { embeds, author, refers_to, stored = name, listed } = column
  const of = (path: string) => jsonOf(db, sql.ref(path))
  if (author) return { name, text: authorText(db, `${table}.${name}`) }
  if (refers_to) return { name, text: of(`${joinedAs(name)}.id`) }
  if (embeds) {
    const joined = joinedAs(embeds.by)
    const members = ['id', ...embeds.fields].map((field) => ({ name: field, text: of(`${joined}.${field}`) }))
    return { name, text: orNull(sql.ref(`${joined}.id`), jsonObject(members)) }
  }
  if (stored === false) return { name, text: jsonOf(db, filter_by[name] ?? sql`null`) }
  const path = `${table}.${stored}`
  const text = jsonOfStored(column, sql.ref(path)) ?? of(path)
  return listed
    ? { name, text, when: sql`${bytesOf(path)} <= ${sql.lit(listed.up_to_bytes)}` }
    : { name, text }
}

const orNull = (value: RawBuilder<unknown>, text: RawBuilder<unknown>) =>
  sql`CASE WHEN ${value} IS NULL THEN 'null' ELSE ${text} END`

/** The author that a column stores, as authorOf shows it. */
function authorText(db: Db, path: string): RawBuilder<unknown> {
  const id = sql.ref(path)
  const author = (kind: RawBuilder<unknown>, shown: RawBuilder<unknown>, of: RawBuilder<unknown>) =>
    jsonObject([
      { name: 'kind', text: kind },
      { name: 'id', text: shown },
      { name: 'name', text: of },
    ])
  const named = authorsWithName(id).map(
    ({ kind, is, name }) =>
      sql`WHEN ${is} THEN ${author(sql.lit(`"${kind}"`), jsonOf(db, id), jsonOf(db, name))}`,
  )
  const kind = jsonOf(db, sql`CASE ${id} WHEN 'command_line' THEN 'service' ELSE ${id} END`)
  const none = sql.lit('null')
  return sql`CASE WHEN ${id} IS NULL THEN 'null' ${sql.join(named, sql` `)} ELSE ${author(kind, none, none)} END`
}

/** A record as JSON text, with the time of its last change. */
export type RecordText = { text: string; updated_at: string }

/** Reads a live record as JSON text. */
export function textById({ select, table }: ViewText) {
  const read = prepare<Key, RecordText>(
    (p, db) =>
      select(db, {
        columns: ['updated_at'],
        where: sql`${sql.ref(`${table}.workspace_id`)} = ${p.workspace_id} AND ${sql.ref(`${table}.id`)} = ${p.id}
      AND ${sql.ref(`${table}.deleted_at`)} IS NULL`,
      }) as RawBuilder<RecordText>,
  )
  return async (db: Db, workspace_id: number, id: number): Promise<RecordText | null> =>
    (await read(db, { workspace_id, id }))[0] ?? null
}

type Ids = { workspace_id: number; ids: unknown }

const chosenRows = (db: Db, { select, table }: ViewText, p: Ids, columns?: readonly string[]) =>
  select(db, {
    ...(columns && { columns }),
    first: sql`${chosenValues(db, p.ids)} CROSS JOIN`,
    where: sql`${sql.ref(`${table}.workspace_id`)} = ${p.workspace_id} AND ${sql.ref(`${table}.id`)} = chosen.value`,
    order: sql`ORDER BY chosen.rowid`,
  })

/** Reads records by their ids as one text, in the order of the ids. Ids without a row are left out. */
export function textsByIds(view: ViewText, separator: string) {
  const read = prepare((p: Ids, db) => joinTexts(chosenRows(db, view, p), separator))
  return async (db: Db, workspace_id: number, ids: readonly number[]): Promise<Texts> => {
    const [texts] = ids.length ? await read(db, { workspace_id, ids: listParameter(db, ids) }) : []
    return texts ?? no_texts
  }
}

/** Reads records as JSON texts, by their ids. */
export function textOfEach(view: ViewText) {
  const read = prepare(
    (p: Ids, db) => chosenRows(db, view, p, ['id']) as RawBuilder<{ id: number; text: string }>,
  )
  return async (db: Db, workspace_id: number, ids: readonly number[]): Promise<Map<number, string>> => {
    const rows = ids.length ? await read(db, { workspace_id, ids: listParameter(db, ids) }) : []
    return new Map(rows.map(({ id, text }) => [id, text]))
  }
}
