import { sql } from 'kysely'
import type { Deletable } from '../records.ts'
import { prepareInsert, prepareRows } from '../statements/recordset.ts'
import type { Tables } from '../tables.ts'
import type { Tx } from '../tx.ts'
import { sameText } from './same-text.ts'

// Lists find records by tags and custom fields through field_values, which has a row for the key of each value (same-text.ts).
// The rows stay while the record is soft-deleted.

/** The tables of records that have tags or custom fields. */
export type Valued = {
  [Table in Deletable]: Tables[Table] extends { tags: unknown } | { custom_fields: unknown } ? Table : never
}[Deletable]

type Values = { tags?: readonly string[]; custom_fields?: Record<string, unknown> }
type Pair = { field: string; value: string }

// A value may have 4,096 characters, which do not fit into an index entry. hasValue compares longer values in full.
const max_characters = 100
export const indexedValue = (value: string): string => value.slice(0, max_characters).toWellFormed()
/** Whether the index holds the whole key of a value. */
export const indexedWhole = (value: string): boolean => sameText(value).length <= max_characters

/** The text form of a custom field's value, for comparison: `5`, `true`, or the text itself. */
export const valueText = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value)

const pairsOf = ({ tags = [], custom_fields = {} }: Values): Pair[] => [
  ...tags.map((tag) => ({ field: 'tags', value: indexedValue(sameText(tag)) })),
  ...Object.entries(custom_fields).map(([key, value]) => ({
    field: `custom_fields.${key}`,
    value: indexedValue(sameText(valueText(value))),
  })),
]

const byText = (pairs: readonly Pair[]): Map<string, Pair> =>
  new Map(pairs.map((pair) => [JSON.stringify(pair), pair]))

const columns = {
  workspace_id: 'bigint!',
  kind: 'text!',
  field: 'text!',
  value: 'text!',
  record_id: 'bigint!',
} as const
const names = Object.keys(columns) as (keyof typeof columns)[]
const add = prepareInsert('field_values', columns, { existing: 'stays' })
const removeAll = prepareRows(
  columns,
  ({ row, rows }) =>
    sql`DELETE FROM field_values AS t ${rows('USING')} WHERE ${sql.join(
      names.map((name) => sql`t.${sql.ref(name)} = ${row[name]}`),
      sql` AND `,
    )}`,
)

type ValueRow = Pair & { workspace_id: number; kind: Valued; record_id: number }
const remove = (tx: Tx, rows: readonly ValueRow[]) => removeAll(tx, rows, {})

/** Adds the values of records that have no index rows yet. */
export function addValues(
  tx: Tx,
  kind: Valued,
  records: readonly (Values & { workspace_id: number; id: number })[],
): void {
  const rows = records.flatMap(({ workspace_id, id, ...values }) =>
    // Long tags that are equal in the index stay one row.
    pairsOf(values).map(({ field, value }) => ({ workspace_id, kind, record_id: id, field, value })),
  )
  tx.rows(add, rows)
}

/** Updates the index for a change of a record's values. Without a change it runs no statement. */
export function indexValues(
  tx: Tx,
  kind: Valued,
  workspace_id: number,
  record_id: number,
  before: Values,
  after: Values,
): void {
  const [old, current] = [byText(pairsOf(before)), byText(pairsOf(after))]
  const rowsOf = (pairs: Map<string, Pair>, others: Map<string, Pair>) =>
    [...pairs].flatMap(([key, pair]) => (others.has(key) ? [] : [{ workspace_id, kind, record_id, ...pair }]))
  tx.rows(remove, rowsOf(old, current))
  tx.rows(add, rowsOf(current, old))
}
