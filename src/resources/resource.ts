import type { ColumnType, Generated, RawBuilder, SqlBool } from 'kysely'
import type { Static, TInteger, TSchema, Type } from 'typebox'
import type { Order } from '../db/lists/orders.ts'
import type { KeyedField } from '../db/lists/same-text.ts'
import type { Deletable } from '../db/records.ts'
import type { Db } from '../db/tx.ts'
import type { EventDefinition } from '../events/define.ts'
import { Body, Id, Listed, Timestamp, Titled } from '../http/fields.ts'

/** How a value is stored that SQL has no type for: JSON text, 0 or 1, an integer of ten-thousandths. */
export type Encoding = 'json' | 'flag' | 'ten_thousandths'

/** One field of a resource: how answers show it, how bodies take it, and how the table stores it. */
export type Column = {
  /** The schema in the detail view. */
  shown: TSchema
  /** The schema in bodies, where it differs from `shown`; false for a read-only field. */
  taken?: TSchema | false | { create: TSchema; update: TSchema }
  /** A body that creates a record must have it. */
  required?: true
  /** The value of a new record if the body has null or no value. By default null. */
  default?: unknown
  /** Limits the list view: false leaves the field out, `up_to_bytes` leaves longer values out. */
  listed?: false | { up_to_bytes: number }
  encoding?: Encoding
  /** The column's name in the table, where it differs; false: no column, the resource computes the value. */
  stored?: string | false
  /** The database sets it, so no statement writes it. */
  generated?: true
  /** Triggers keep it from other records: no statement writes it, and no change names it. */
  kept?: true
  /** Lists can be filtered by it, and the totals of its values are kept (db/lists/counts.ts). */
  counted?: true
  /** Lists can be filtered by it: an index of live records has its values, or their keys (db/lists/match-keys.ts). */
  filtered?: true | 'by_key'
  /** Another column, such as `email_key`, has the key of its value (db/lists/same-text.ts). */
  key?: KeyedField
  /** The table of the record whose id it holds. A reference to a record in the trash reads null. */
  refers_to?: string
  /** A list of ids that another table has, with a row for each. Ids of records in the trash are left out. */
  ids?: IdRows
  /** It holds the id of a member of the workspace, or null. */
  member?: true
  /** It holds who wrote the record (shared-columns.ts). The service sets it. */
  author?: true
  /** Fields of the record that a reference names, shown as an object. */
  embeds?: Embedding
  /**
   * Whether an erasure removes it. Required for every text: true for free text, false for codes. `visitor` marks what a
   * visitor wrote: it is also erased with the contact that booked.
   */
  personal?: boolean | 'visitor'
}

export type Embedding = {
  /** The reference. */
  by: string
  fields: readonly string[]
  /** The fields and the schema of the list view, where they differ. */
  listed?: { fields: readonly string[]; shown: TSchema }
}

/** The rows of a list of ids: the column of the record that has the list, and that of an id in it. */
export type IdRows = { table: string; by: string; id: string; refers_to: string }

export type Columns = Record<string, Column>

/** Derived from the columns once, because every write uses it. */
type Facts = {
  /** The fields that a person may change. */
  writable: readonly string[]
  /** The fields that events and the audit log name as changed: not the dates and authors, not embedded records. */
  tracked: readonly string[]
  /** The fields by which totals of lists are kept. */
  counted: readonly string[]
  /** The fields that hold a reference, with the table of the record that each names. */
  references: Readonly<Record<string, Deletable>>
  /** The fields that hold the id of a member. */
  members: readonly string[]
  /** The fields that have a column in the table, with the column's name. */
  stored: readonly { field: string; name: string; column: Column }[]
  /** The fields with a column for the key of their value. */
  keyed: readonly { field: string; name: string; key: KeyedField }[]
  /** The columns with the keys of telephone numbers, at which a search looks. */
  numbers: readonly string[]
}

/** The description of a resource, as data. All code for several resources reads it. */
export type Resource<C extends Columns = Columns> = Facts & {
  /** The table; also the kind's name in the audit log, the trash and the change hints. */
  table: Deletable
  /** In messages: "This company does not exist." */
  noun: string
  path: string
  /** The first part of its scopes: companies:read, companies:write. */
  scope: string
  /** The text in the API's documentation; absent for a part of another resource. */
  about?: string
  /** False for a resource of the base interface. */
  extension?: boolean
  columns: C
  /** The name of a record in the trash: these fields, joined by a space, or the first characters of one field. */
  title: { fields: readonly string[]; characters?: number }
  /**
   * The column that a search over all kinds shows under the title. With it and a name to sort by, the resource is a main one
   * (derived.ts).
   */
  subtitle?: string
  /** Fields by which it is sorted by name, in the column sort_name (db/lists/sort-names.ts). */
  sort_name: readonly string[]
  /** Fields that the search looks at, kept in the hidden column search_text. By default, it looks at the name in sort_name. */
  search_text: readonly string[]
  /** An index has the words of search_text (db/lists/search.ts). Without it, a search reads the texts. */
  search_index: boolean
  /** Columns of the table that no answer shows. */
  hidden: Record<string, 'text' | 'integer'>
  /** The orders of lists, besides the dates. Each has an index. */
  orders: readonly Order[]
  /** Expressions of fields that no column stores, with the table's name, for views and filters. */
  filter_by: Readonly<Record<string, RawBuilder<unknown>>>
  /** The JSON text of a field in views, where it has more than its column. */
  shown_by: Readonly<Record<string, (db: Db) => RawBuilder<unknown>>>
  /** Short names of ranges, by the fields that they stand for: `due` for `due_at`. */
  filter_aliases: Readonly<Record<string, string>>
  /** The date by which a record should be finished, and the condition that it is not: the word `overdue` of filters. */
  unfinished?: { by: string; where: RawBuilder<SqlBool> }
  /** Parameters of the list that show records of another kind, and the scope that reads it. */
  parameter_scopes: Readonly<Record<string, string>>
  /** The names of all start with the same part, such as `deal`. A resource without events has an empty list. */
  events: readonly EventDefinition[]
  /** How timelines show it: the type of the entry, and its place among entries of one time. */
  timeline?: { type: string; rank: number }
  /** Has a timeline of its own. */
  has_timeline: boolean
  /** The reasons for which records are likely duplicates, best first. With any, records can be merged. */
  duplicates: readonly DuplicateReason[]
  /** The record that owns it and whose removal removes it: its table, and the field with its id. */
  part_of?: { table: string; by: string }
  /** Tables of rows that belong to its records and go with them, by the column that names the record. */
  owns: Record<string, string>
}

/** An equal e-mail, an equal telephone number, or an equal name. */
export type DuplicateReason = 'email' | 'phone' | 'name'

type Description<C extends Columns> = Pick<Resource<C>, 'table' | 'noun' | 'columns' | 'title' | 'events'> &
  Partial<Omit<Resource<C>, keyof Facts>>

/** Describes a resource, with defaults for absent properties. */
export const defineResource = <C extends Columns>(description: Description<C>): Resource<C> => ({
  path: `/api/v1/${description.table.replaceAll('_', '-')}`,
  scope: description.table,
  sort_name: [],
  search_text: [],
  search_index: false,
  orders: [],
  filter_by: {},
  shown_by: {},
  parameter_scopes: {},
  has_timeline: false,
  duplicates: [],
  owns: {},
  ...description,
  hidden: { ...(description.search_text && { search_text: 'text' }), ...description.hidden },
  filter_aliases: { created: 'created_at', updated: 'updated_at', ...description.filter_aliases },
  ...factsOf(description.columns),
})

/** Columns as data, with their exact types. */
export const defineColumns = <const C extends Columns>(columns: C): C => columns

/** The dates that every record has. */
export const dates = {
  created_at: { shown: Timestamp(), taken: false, personal: false },
  updated_at: { shown: Timestamp(), taken: false, personal: false },
} as const

type Shown<C extends Columns> = { id: TInteger } & { [K in keyof C]: C[K]['shown'] }

/** The schema of the detail view. */
export const detailView = <C extends Columns>(title: string, columns: C, example_id: number) =>
  Titled(title, {
    id: Id({ examples: [example_id] }),
    ...mapColumns(columns, ({ shown }) => shown),
  } as Shown<C>)

/** The schema of the list view: without what lists leave out. */
export const listView = (title: string, columns: Columns, example_id: number) =>
  Titled(title, {
    id: Id({ examples: [example_id] }),
    ...mapColumns(columns, ({ shown, listed, embeds }) => {
      if (listed === false) return undefined
      return listed ? Listed(shown, `${listed.up_to_bytes / 1024} KiB`) : (embeds?.listed?.shown ?? shown)
    }),
  })

function mapColumns(columns: Columns, map: (column: Column) => TSchema | undefined): Record<string, TSchema> {
  const mapped: Record<string, TSchema> = {}
  for (const [name, column] of Object.entries(columns)) {
    const schema = map(column)
    if (schema) mapped[name] = schema
  }
  return mapped
}

type WriteKind = 'create' | 'update'
type Taken<C extends Column, O extends WriteKind> = C extends { taken: Record<WriteKind, TSchema> }
  ? C['taken'][O]
  : C extends { taken: TSchema }
    ? C['taken']
    : C['shown']
type WritableKey<C extends Columns, K extends keyof C> = C[K] extends { taken: false } | { embeds: Embedding }
  ? never
  : K

/** The fields of a body, by the operation. */
export type Input<C extends Columns, O extends WriteKind = 'update'> = {
  [K in keyof C as WritableKey<C, K>]?: Static<Taken<C[K], O>>
}

/** The fields that a person may change, as the record stores them. */
export type Values<C extends Columns> = { [K in keyof C as WritableKey<C, K>]: Static<C[K]['shown']> }

const isWritable = ({ taken, embeds }: Column): boolean => taken !== false && !embeds

function factsOf(columns: Columns): Facts {
  const all = Object.entries(columns)
  const namesOf = (chosen: typeof all) => chosen.map(([name]) => name)
  return {
    writable: namesOf(all.filter(([, column]) => isWritable(column))),
    tracked: namesOf(
      all.filter(([name, { embeds, author, kept }]) => !embeds && !author && !kept && !(name in dates)),
    ),
    counted: namesOf(all.filter(([, { counted }]) => counted)),
    // A description cannot have the type of the tables, which are made of descriptions. test/resources.test.ts checks
    // the names.
    references: Object.fromEntries(
      all.flatMap(([name, { refers_to }]) => (refers_to ? [[name, refers_to as Deletable]] : [])),
    ),
    members: namesOf(all.filter(([, { member }]) => member)),
    stored: all.flatMap(([field, column]) => {
      const { stored: name = field, embeds } = column
      return name === false || embeds ? [] : [{ field, name, column }]
    }),
    keyed: all.flatMap(([field, { key }]) => (key ? [{ field, name: `${field}_key`, key }] : [])),
    numbers: all.flatMap(([field, { key }]) => (key === 'phone' ? [`${field}_key`] : [])),
  }
}

/** The fields of a view that a body cannot set. */
export const readOnlyFields = (columns: Columns, fields: readonly string[]): string[] =>
  fields.filter((name) => !columns[name] || !isWritable(columns[name]))

function takenBy(column: Column, operation: WriteKind): TSchema | undefined {
  const { taken, shown } = column
  if (!isWritable(column) || taken === false) return undefined
  if (!taken) return shown
  return 'create' in taken && 'update' in taken ? (taken[operation] as TSchema) : (taken as TSchema)
}

/** The schema of the body that creates a record, or changes one; read-only fields are accepted and ignored. */
export function bodyOf<C extends Columns, O extends WriteKind>(columns: C, operation: O) {
  const fields = mapColumns(columns, (column) => takenBy(column, operation))
  const names = Object.keys(columns)
  const required = operation === 'create' ? names.filter((name) => columns[name]?.required) : []
  return Body(fields, ['id', ...names], required) as unknown as ReturnType<typeof Type.Unsafe<Input<C, O>>>
}

/** The first part of the names of its events, such as `company`; undefined when it has none. */
export const eventPrefix = ({ events }: Pick<Resource, 'events'>): string | undefined =>
  events[0]?.name.split('.')[0]

// The table's type, for Kysely.

type Stored<C extends Column> = C extends { encoding: 'json' }
  ? string
  : C extends { encoding: 'flag' }
    ? 0 | 1
    : C extends { author: true }
      ? string | null
      : C extends { generated: true } | { kept: true }
        ? Generated<Static<C['shown']>>
        : Static<C['shown']>
type StoredName<C extends Columns, K extends keyof C> = C[K] extends { stored: false } | { embeds: Embedding }
  ? never
  : K extends keyof typeof dates
    ? never
    : C[K] extends { stored: infer N extends string }
      ? N
      : K

/** A value that is set when the row is made and never changes. */
type Fixed<T> = ColumnType<T, T, never>

/** The table of a resource with these columns. */
export type TableOf<C extends Columns> = {
  id: Generated<number>
  workspace_id: Fixed<number>
  created_at: Fixed<string>
  updated_at: string
  deleted_at: ColumnType<string | null, undefined, string | null>
} & { [K in keyof C as StoredName<C, K>]: Stored<C[K]> } & {
  [K in keyof C as C[K] extends { key: KeyedField } ? `${K & string}_key` : never]: string | null
}
