import { hash } from 'node:crypto'
import { sql } from 'kysely'
import type { Db } from '../db/db.ts'
import { type Valued, valueText } from '../db/lists/field-values.ts'
import { emailKey, sameText } from '../db/lists/same-text.ts'
import { sortName } from '../db/lists/sort-names.ts'
import { join, prepareById } from '../db/statements/bulk.ts'
import { prepareInsert, prepareRows } from '../db/statements/recordset.ts'
import type { Tx } from '../db/tx.ts'

// defined_values has a row for each value of a defined custom field (custom-fields/definitions.ts), in the field's order.
// A record in the trash has no rows, so that its unique values are free.

/** The types of custom fields. */
export const field_types = ['text', 'number', 'boolean', 'date', 'select', 'url', 'email'] as const
export type FieldType = (typeof field_types)[number]

/** A definition, as far as its values are stored by it. */
export type ValuedBy = { id: number; key: string; type: FieldType; is_unique: boolean }

const bytes = new DataView(new ArrayBuffer(8))

/** 16 hexadecimal digits that sort as the number does: its bits, with the sign turned. */
export function sortNumber(value: number): string {
  bytes.setFloat64(0, value === 0 ? 0 : value)
  const bits = bytes.getBigInt64(0)
  const ordered = bits < 0n ? ~bits : bits | (1n << 63n)
  return BigInt.asUintN(64, ordered).toString(16).padStart(16, '0')
}

/** A text that sorts, byte by byte, as the values of the type do. Null for a value of another type. */
export function sortValue(type: FieldType, value: unknown): string | null {
  if (type === 'number') return typeof value === 'number' ? sortNumber(value) : null
  if (type === 'boolean') return typeof value === 'boolean' ? String(value) : null
  if (typeof value !== 'string') return null
  if (type === 'date') return /^\d{4}-\d\d-\d\d$/.test(value) ? value : null
  return sortName(value)
}

// A longer text does not fit into an index entry.
const max_characters = 100

/** The text that a unique field compares: the key of its value (db/lists/same-text.ts). */
export function uniqueValue(type: FieldType, value: unknown): string {
  const text = type === 'email' ? emailKey(valueText(value)) : sameText(valueText(value))
  return text.length > max_characters ? `#${hash('sha256', text)}` : text
}

const columns = {
  workspace_id: 'bigint!',
  definition_id: 'bigint!',
  record_id: 'bigint!',
  sort_value: 'text!',
  unique_value: 'text',
} as const

export type DefinedValue = {
  workspace_id: number
  definition_id: number
  record_id: number
  sort_value: string
  unique_value: string | null
}

/** The rows of a record's values. A value that is not of its definition's type has no row. */
export const definedValues = (
  definitions: readonly ValuedBy[],
  workspace_id: number,
  record_id: number,
  values: Readonly<Record<string, unknown>>,
): DefinedValue[] =>
  definitions.flatMap(({ id, key, type, is_unique }) => {
    const value = Object.hasOwn(values, key) ? values[key] : undefined
    const sort_value = sortValue(type, value)
    if (sort_value === null) return []
    const unique_value = is_unique ? uniqueValue(type, value) : null
    return { workspace_id, definition_id: id, record_id, sort_value, unique_value }
  })

type Added = Pick<DefinedValue, 'definition_id' | 'record_id'>

/** Adds rows that do not exist, of any records. Returns those that were added. */
export const insertDefinedValues = prepareInsert('defined_values', columns, {
  existing: 'stays',
  returning: ['definition_id', 'record_id'],
})

const insertOfRecords = async (tx: Tx, records: readonly (readonly DefinedValue[])[]): Promise<Added[][]> => {
  const added = Map.groupBy(await insertDefinedValues(tx, records.flat()), ({ record_id }) => record_id)
  return records.map(([first]) => (first && added.get(first.record_id)) ?? [])
}

/**
 * Adds the rows of a record that do not exist, and returns those that were added. Another record has the unique value of a
 * missing one. On PostgreSQL the statement waits for a concurrent transaction that adds an equal value.
 */
export const addUniqueValues = (tx: Tx, rows: readonly DefinedValue[]): Promise<Added[]> =>
  join(tx, insertOfRecords, rows, { writes: true }) ?? insertDefinedValues(tx, rows)

const keys = { workspace_id: 'bigint!', definition_id: 'bigint!', record_id: 'bigint!' } as const
const remove = prepareRows(
  keys,
  ({
    row,
    rows,
  }) => sql`DELETE FROM defined_values AS t ${rows('USING')} WHERE t.workspace_id = ${row.workspace_id}
      AND t.definition_id = ${row.definition_id} AND t.record_id = ${row.record_id}`,
)

type Removed = Pick<DefinedValue, keyof typeof keys>
const removeOfRecords = async (tx: Tx, records: readonly (readonly Removed[])[]): Promise<null[]> => {
  await remove(tx, records.flat(), {})
  return records.map(() => null)
}

/** Removes the rows of these values of a record. Its rows that are added later come after it, in bulk too. */
export const removeDefinedValues = (tx: Tx, rows: readonly Removed[]): Promise<unknown> =>
  join(tx, removeOfRecords, rows, { writes: true }) ?? remove(tx, rows, {})

type Leaving = { workspace_id: number; kind: Valued; id: number }
const removeAll = prepareById<Leaving, { id: number }>(
  (is, p, db) =>
    db
      .deleteFrom('defined_values')
      .where('workspace_id', '=', p.workspace_id)
      .where(is('record_id'))
      .where('definition_id', 'in', (of) =>
        of
          .selectFrom('field_definitions')
          .select('id')
          .where((eb) => eb.and({ workspace_id: p.workspace_id, kind: p.kind })),
      )
      .returning('record_id as id'),
  { writes: true },
)

/** Removes the rows of a record that leaves the lists. */
export const forgetDefinedValues = (tx: Tx, workspace_id: number, kind: Valued, record_id: number): void =>
  tx.defer(removeAll(tx, { workspace_id, kind, id: record_id }))

type OfField = { workspace_id: number; definition_id: number; id: string }
const holder = prepareById<OfField, { id: string; record_id: number }>(
  (is, p) => sql<{ id: string; record_id: number }>`SELECT unique_value AS id, record_id FROM defined_values
        WHERE workspace_id = ${p.workspace_id} AND definition_id = ${p.definition_id}
          AND unique_value IS NOT NULL AND ${is('unique_value')}`,
  { type: 'text' },
)

/** The id of the live record that has a value of a unique field, or null. */
export async function findHolder(
  db: Db,
  workspace_id: number,
  { id, type }: ValuedBy,
  value: unknown,
): Promise<number | null> {
  const row = await holder(db, { workspace_id, definition_id: id, id: uniqueValue(type, value) })
  return row?.record_id ?? null
}
