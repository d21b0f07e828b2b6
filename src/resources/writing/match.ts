import { type RawBuilder, sql } from 'kysely'
import type { ValuedBy } from '../../custom-fields/defined-values.ts'
import type { Db, Tx } from '../../db/db.ts'
import { match_keys } from '../../db/lists/match-keys.ts'
import { type KeyedField, keyOf, sameName } from '../../db/lists/same-text.ts'
import { sortName } from '../../db/lists/sort-names.ts'
import { survivorsWith } from '../../db/merged.ts'
import type { Deletable } from '../../db/records.ts'
import { perKey } from '../../db/statements/prepare.ts'
import { prepareRows } from '../../db/statements/recordset.ts'
import { engineOf } from '../../db/tx.ts'

/** A record that an upsert matches, with the key of its value. */
export type Matched = { id: number; key: string }

/** Whether the records that are found stay locked until the transaction ends. */
type Purpose = 'read' | 'lock'

/** A field by which an upsert finds the record that it changes. */
export type Match = {
  field: string
  /** Values of the same record have the same key. */
  keyOf(value: string): string
  /** The live records whose value has one of the keys, of their own or of a record that was merged into them. */
  find(tx: Tx, workspace_id: number, keys: readonly string[], purpose: Purpose): Promise<Matched[]>
}

type Workspace = { workspace_id: number }
type Sql = RawBuilder<unknown>
type Search<P> = (db: Db, key: RawBuilder<string>, p: P) => { found: Sql; key: Sql }

/**
 * Finds live records `c` of a table by given keys: `found` selects the ids that one key finds, `key` is the value of a
 * record. PostgreSQL looks up each key by itself, also with old statistics of the table. Then it may lock the rows in the
 * order of the ids.
 */
const finder = <P extends Workspace>(table: Deletable, search: Search<P>) => {
  const finders = {
    read: finding(table, search, sql``),
    lock: finding(table, search, sql`FOR NO KEY UPDATE OF c`),
  }
  return (tx: Tx, keys: readonly string[], purpose: Purpose, p: P) =>
    finders[purpose](
      tx,
      keys.map((key) => ({ key })),
      p,
    )
}

const finding = <P extends Workspace>(table: Deletable, search: Search<P>, lock: Sql) =>
  prepareRows<{ key: 'text!' }, Matched, P>({ key: 'text!' }, ({ row, rows }, p, db) => {
    const { found, key } = search(db, row.key, p)
    const on_postgres = engineOf(db) === 'postgres'
    const all = on_postgres
      ? sql`= ANY(ARRAY(SELECT found.id FROM ${rows('first')} LATERAL (${found} OFFSET 0) AS found))`
      : sql`IN (${found})`
    return sql<Matched>`SELECT c.id, ${key} AS key FROM ${sql.table(table)} AS c
          WHERE c.workspace_id = ${p.workspace_id} AND c.id ${all} AND c.deleted_at IS NULL
          ORDER BY c.id ${on_postgres ? lock : sql``}`
  })

/** The same, and for values that no live record has, the survivors of merged records that had them. */
const withSurvivors = (table: Deletable, match: Match): Match => ({
  ...match,
  async find(tx, workspace_id, keys, purpose) {
    const found = await match.find(tx, workspace_id, keys, purpose)
    const live = new Set(found.map(({ key }) => key))
    const missing = keys.filter((key) => !live.has(key))
    if (!missing.length) return found
    return [...found, ...(await survivorsWith(tx, table, workspace_id, match.field, missing, purpose))]
  },
})

/** Finds records by the key of a field, such as an e-mail address. */
export function matchKey(table: Deletable, field: KeyedField): Match {
  const { key: column, where } = match_keys[field]
  const find = finder<Workspace>(table, (_, key, p) => ({
    found: sql`SELECT id FROM ${sql.table(table)}
      WHERE workspace_id = ${p.workspace_id} AND ${column} = ${key} AND ${where} AND deleted_at IS NULL`,
    key: sql`c.${column}`,
  }))
  return withSurvivors(table, {
    field,
    keyOf: keyOf[field],
    find: (tx, workspace_id, keys, purpose) => find(tx, keys, purpose, { workspace_id }),
  })
}

/** Finds records by their whole name, without case. */
export function matchName(table: Deletable): Match {
  // Names with the same first characters, without accents, have the same text for sorting.
  const find = finder<Workspace>(table, (_, key, p) => ({
    found: sql`SELECT id FROM ${sql.table(table)}
      WHERE workspace_id = ${p.workspace_id} AND sort_name = ${key} AND deleted_at IS NULL`,
    key: sql`c.name`,
  }))
  return withSurvivors(table, {
    field: 'name',
    keyOf: sameName,
    async find(tx, workspace_id, keys, purpose) {
      const sort_names = [...new Set(keys.map((key) => sortName(key)))]
      const found = await find(tx, sort_names, purpose, { workspace_id })
      return found.map(({ id, key }) => ({ id, key: sameName(key) }))
    },
  })
}

type Field = Workspace & { definition_id: number }
const holdersOf = perKey((table: Deletable) =>
  finder<Field>(table, (_, key, p) => {
    const of_field = sql`workspace_id = ${p.workspace_id} AND definition_id = ${p.definition_id}`
    return {
      found: sql`SELECT record_id AS id FROM defined_values
        WHERE ${of_field} AND unique_value IS NOT NULL AND unique_value = ${key}`,
      key: sql`(SELECT unique_value FROM defined_values WHERE ${of_field} AND record_id = c.id)`,
    }
  }),
)

/** Finds records by the value of a unique custom field. The texts are those of uniqueValue. */
export function matchCustomField(table: Deletable, { id, key }: ValuedBy): Match {
  return withSurvivors(table, {
    field: `custom_fields.${key}`,
    keyOf: (value) => value,
    find: (tx, workspace_id, keys, purpose) =>
      holdersOf(table)(tx, keys, purpose, { workspace_id, definition_id: id }),
  })
}
